"""Tools of the tests of transfers, memory, streams and events: patterns, gates, blocks of memory, schedules."""
