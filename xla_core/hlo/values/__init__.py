"""What a value is: its element type, shape and layout, its literal, and how two arrays are compared."""
