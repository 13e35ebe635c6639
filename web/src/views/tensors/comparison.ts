// What a tensor is compared with: another step of the run, or another run (the link's word "b").
import { idOf } from '../../data/ids';
import { parseOther } from '../../data/link';
import { StepRanges } from '../../data/step_ranges';

import { TensorApi, type TensorInfo } from './api';
import type { Look, PaneOwner } from './pane';

export interface OtherTensor {
  api: TensorApi;
  info: TensorInfo;
  step: number;
  /** "step 20", "second at step 20". */
  title: string;
}

/** Null: compared with nothing. Throws SourceError when the other run has no such tensor, Error when no such value. */
export async function otherTensor(look: Look, owner: PaneOwner, signal: AbortSignal): Promise<OtherTensor | null> {
  const other = parseOther(look.params['b']);
  if (!other) return null;
  const api = other.run === null ? owner.api : new TensorApi(owner.context.source, idOf(other.run));
  const info = other.run === null ? look.info : await api.info(idOf(look.info.name), signal);
  const ranges = new StepRanges(info.forms.value ?? []);
  const wanted = other.step ?? look.step;
  const step = wanted === null ? ranges.last : ranges.atOrBefore(wanted);
  const where = other.run === null ? 'this run' : `run ${other.run}`;
  if (step === null) throw new Error(`To compare with: ${where} has no value of ${info.name} at or before step ${wanted ?? 0}.`);
  return { api, info, step, title: other.run === null ? `step ${step}` : `${other.run} at step ${step}` };
}
