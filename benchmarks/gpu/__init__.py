"""What `benchmarks/gpu_report.py` measures on one GPU."""
