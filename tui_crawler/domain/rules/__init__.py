"""What may be requested: policies, rules, exclusions, robots.txt, and the two lists of filters in `admission`.

Rulesets are immutable values. A refusal is a `Verdict` with the line that decided."""
