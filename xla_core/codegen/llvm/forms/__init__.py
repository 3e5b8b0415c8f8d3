"""Kernel forms: how one instruction, or one fusion, becomes the loops of a kernel function."""
