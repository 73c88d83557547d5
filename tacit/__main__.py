"""`python -m tacit` is the command line."""

from tacit.cli.start import start

if __name__ == "__main__":
    start()
