"""The measurements of `benchmarks/gpu_report.py` on one GPU."""
