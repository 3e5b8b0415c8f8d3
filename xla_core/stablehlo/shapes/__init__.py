"""Dynamic shapes: programs whose types have `?` become programs for the shapes of given arguments."""
