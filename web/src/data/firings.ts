// Firings: where the rules of a run fired, for the time bar and for charts.
import type { Source } from './source';

export type Severity = 'info' | 'warning' | 'error';

export interface Firing {
  /** Global. */
  step: number;
  /** The rule's id. */
  rule: string;
  severity: Severity;
  message: string;
  /** Consecutive verdicts are listed once: up to this step. The same as `step` when there was one. */
  lastStep: number;
}

/** One piece of evidence, as in the journal. */
export interface EvidenceAnswer {
  tensor: string;
  tensor_id: string;
  worker?: string;
  quantity: string;
  value: number | string;
  threshold: number | string;
  step: number;
  /** Of a sample, in place of tensor and step. */
  metric?: string;
  unix_ns?: number;
}

export interface VerdictAnswer {
  id: string;
  rule: string;
  step: number;
  mode: string;
  mode_step: number;
  outcome: string;
  severity: Severity;
  confidence: number;
  message: string;
  advice: string;
  evidence: EvidenceAnswer[];
  consequence_of?: string;
  muted?: boolean;
  /** Of a verdict on a window of time, whose step is the last one before its end. */
  from_unix_ns?: number;
  to_unix_ns?: number;
}

/** GET /runs/{run}/rules: one rule. */
export interface RuleAnswer {
  id: string;
  rule: string;
  parameters: Record<string, string>;
  state: string;
  details: string;
  severity: Severity | null;
  fired: number;
  first_fired_step: number;
  last_fired_step: number;
  steps: Record<string, number>;
  modified_unix_ns: number;
  journal: string;
  builtin: boolean;
  transitions: { state: string; unix_ns: number; details: string }[];
  verdict_count: number;
  verdicts: VerdictAnswer[];
  repeats: { outcome: string; first_step: number; last_step: number; count: number }[];
}

export interface RulesAnswer {
  rules: RuleAnswer[];
}

/** Does all that the rule found follow from what another one found? */
export function isConsequence({ verdicts }: RuleAnswer): boolean {
  const fired = verdicts.filter(({ outcome }) => outcome === 'fired');
  return fired.length > 0 && fired.every(({ consequence_of }) => consequence_of !== undefined && consequence_of !== '');
}

/** Causes before what follows from them; of equals the one that fired first. */
export function byCause(a: RuleAnswer, b: RuleAnswer): number {
  const first = ({ first_fired_step: step }: RuleAnswer) => (step < 0 ? Number.MAX_SAFE_INTEGER : step);
  return Number(isConsequence(a)) - Number(isConsequence(b)) || first(a) - first(b);
}

/** By step; rules of one step in the order of the board. */
export function firingsIn(answer: RulesAnswer): Firing[] {
  const firings = answer.rules.flatMap((rule) =>
    rule.verdicts
      .filter((verdict) => verdict.outcome === 'fired')
      .map((verdict) => ({
        step: verdict.step,
        rule: rule.id,
        severity: verdict.severity,
        message: verdict.message,
        lastStep: rule.repeats.find((repeat) => repeat.first_step === verdict.step)?.last_step ?? verdict.step,
      })),
  );
  return firings.sort((a, b) => a.step - b.step);
}

export async function loadFirings(source: Source, run: string): Promise<Firing[]> {
  return firingsIn(await source.json<RulesAnswer>(`/runs/${run}/rules`));
}
