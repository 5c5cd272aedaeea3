"""The version of this package, for rooms that may not import the package itself."""

__version__ = "0.1.0"
