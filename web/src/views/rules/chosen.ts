// What a link chooses on the board: a rule, and of its verdicts the one that the cursor is at.
import { byCause, type RuleAnswer, type VerdictAnswer } from '../../data/firings';

const GRAVITY: Record<string, number> = { IssuesFound: 5, Error: 4, InProgress: 3, Stopping: 3, Stopped: 2, NoIssuesFound: 1 };

/** The gravest first, causes before what follows from them, then what fired first; what has nothing to judge last. */
export function byGravity(rules: readonly RuleAnswer[]): RuleAnswer[] {
  return [...rules].sort((a, b) => (GRAVITY[b.state] ?? 0) - (GRAVITY[a.state] ?? 0) || byCause(a, b));
}

/** The one that the link names; without a name the gravest. */
export function chosenRule(rules: readonly RuleAnswer[], name: string | undefined): RuleAnswer | undefined {
  if (name !== undefined) return rules.find((rule) => rule.id === name);
  return byGravity(rules)[0];
}

/** The newest at or before the cursor; the first when there is no cursor, or none before it. */
export function chosenVerdict(rule: RuleAnswer, cursor: number | null): VerdictAnswer | undefined {
  if (cursor === null) return rule.verdicts[0];
  return rule.verdicts.filter((verdict) => verdict.step <= cursor).at(-1) ?? rule.verdicts[0];
}
