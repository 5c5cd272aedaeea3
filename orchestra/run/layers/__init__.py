"""What stands around a task's own work: guarantees before it, enhancements beside it, execution skills around it."""
