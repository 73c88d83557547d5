"""The command line: arguments in, results printed; nothing is decided here. Imports everything."""
