"""Cooperation of a block's threads: they combine values by exchanging registers, and through shared memory."""
