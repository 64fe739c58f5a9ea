"""The pytest fixtures: one lab per session."""
import pytest

from doorlab import Lab


@pytest.fixture(scope="session")
def lab():
    with Lab() as running:
        yield running
