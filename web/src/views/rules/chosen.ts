// What a link chooses on the board: a rule, and of its verdicts the one that the cursor is at.
import type { RuleAnswer, VerdictAnswer } from '../../data/firings';

const GRAVITY: Record<string, number> = { Error: 2, IssuesFound: 3 };

/** The one that the link names; without a name the gravest, of equals the one that fired first. */
export function chosenRule(rules: readonly RuleAnswer[], name: string | undefined): RuleAnswer | undefined {
  if (name !== undefined) return rules.find((rule) => rule.id === name);
  const first = (rule: RuleAnswer) => (rule.first_fired_step < 0 ? Infinity : rule.first_fired_step);
  return [...rules].sort((a, b) => (GRAVITY[b.state] ?? 0) - (GRAVITY[a.state] ?? 0) || first(a) - first(b) || 0)[0];
}

/** The newest at or before the cursor; the first when there is no cursor, or none before it. */
export function chosenVerdict(rule: RuleAnswer, cursor: number | null): VerdictAnswer | undefined {
  if (cursor === null) return rule.verdicts[0];
  return rule.verdicts.filter((verdict) => verdict.step <= cursor).at(-1) ?? rule.verdicts[0];
}
