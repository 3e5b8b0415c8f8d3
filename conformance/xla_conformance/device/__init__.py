"""What the tests of transfers, memory, streams and events are made of: patterns, gates, blocks of memory, schedules."""
