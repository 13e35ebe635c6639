import { expect, it } from 'vitest';

import { SourceError, type Notice } from '../data/source';
import { idOf } from '../data/ids';
import { GivenSource } from '../views/insight_testing';
import { RunInView } from './run_state.svelte';

const RUN = `/runs/${idOf('first')}`;

class ToldSource extends GivenSource {
  tell: (notice: Notice) => void = () => undefined;
  override notices(listener: (notice: Notice) => void): () => void {
    this.tell = listener;
    return () => undefined;
  }
  get timesAsked(): number {
    return this.asked.filter((address) => address === `${RUN}/rules`).length;
  }
}

function told(rules: unknown): ToldSource {
  return new ToldSource({ [`${RUN}/steps`]: { steps: [], modes: [], last_complete: -1, state: 'running', failure: null }, [`${RUN}/rules`]: rules });
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

it('asks once for the rules that its bar and its view show, until they have news', async () => {
  const source = told({ rules: [] });
  const run = new RunInView(source, 'first');
  await settled();
  await run.allFirings();
  expect(source.timesAsked).toBe(1);
  source.tell({ run: run.id, version: 2, kind: 'steps' });
  await run.allFirings();
  expect(source.timesAsked).toBe(1);
  source.tell({ run: run.id, version: 3, kind: 'rules' });
  await settled();
  await run.allFirings();
  expect(source.timesAsked).toBe(2);
  run.destroy();
});

it('asks again for rules that could not be read', async () => {
  const source = told(new SourceError('data loss', 'damaged'));
  const run = new RunInView(source, 'first');
  await settled();
  await expect(run.allFirings()).rejects.toMatchObject({ code: 'data loss' });
  source.answers[`${RUN}/rules`] = { rules: [] };
  await expect(run.allFirings()).resolves.toEqual([]);
  run.destroy();
});
