"""The pages: each file answers the requests of one part, and exports its `routes`."""
