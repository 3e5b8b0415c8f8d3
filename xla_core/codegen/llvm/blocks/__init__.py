"""What the threads of a block do together: they combine values by exchanging registers, and through shared memory."""
