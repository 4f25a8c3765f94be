"""The command line: one file per family of commands, imported only when it is used."""
