"""What goes on in the store, told once to all who watch."""
