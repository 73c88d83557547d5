"""What tests of the service share: one PostgreSQL for the session."""

import pytest
from postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres_server():
    server = PostgresServer()
    server.start()
    yield server
    server.remove()
