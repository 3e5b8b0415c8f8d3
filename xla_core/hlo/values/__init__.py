"""Values: element types, shapes, layouts and literals, and the comparison of two arrays."""
