"""From a task to a plan, from a plan to requests, from replies to findings."""
