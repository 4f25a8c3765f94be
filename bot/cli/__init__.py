"""The command line. Each family of commands has its own module, imported only when it is used."""
