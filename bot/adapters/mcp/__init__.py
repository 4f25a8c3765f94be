"""The memory as a server of the Model Context Protocol, with which other agents recall, record and teach."""
