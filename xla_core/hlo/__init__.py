"""The HLO IR and what it means."""
