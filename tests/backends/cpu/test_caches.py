"""The caches of the host and of other processors."""

from __future__ import annotations

from xla_backend_cpu.caches import processor_caches
from xla_backend_cpu.host import host_cpu


def test_the_levels_grow():
    for cpu in (host_cpu(), "znver3", "haswell", "neoverse-n1", "a-processor-without-a-name"):
        caches = processor_caches(cpu)
        assert len(caches) >= 2
        assert [c.size_bytes for c in caches] == sorted(c.size_bytes for c in caches)
        assert all(c.size_bytes % (c.line_bytes * c.ways) == 0 for c in caches)


def test_the_device_has_the_caches_of_the_host(client):
    assert client.devices[0].description.caches == processor_caches(host_cpu())


def test_other_processors_have_their_own():
    sizes = {cpu: processor_caches(cpu)[1].size_bytes >> 10 for cpu in ("znver2-x", "skylake", "skylake-avx512")}
    assert sizes == {"znver2-x": 512, "skylake": 256, "skylake-avx512": 1024}
