import { afterEach, describe, expect, it } from 'vitest';

import { Arrays } from '../../data/safetensors';

import type { Panes } from './attention_view';
import { type FakeModel, SENTENCE, SMALL } from './fake_source';
import { HeadPane } from './head_pane';
import { Bench } from './test_bench';

const panes: Panes = { head: async () => (element, context) => new HeadPane(element, context) };

let bench: Bench | null = null;

function open(params: Record<string, string> = {}, model: FakeModel = SMALL, step: number | null = null): Bench {
  bench = new Bench(panes, { mode: 'head', ...params }, model, step);
  return bench;
}

afterEach(() => {
  bench?.close();
  bench = null;
});

function labels(of: Bench, side: string): string[] {
  return of.all(`.at-token[data-side="${side}"] bdi`).map((element) => element.textContent ?? '');
}

/** The numbers of the table, by head and key. */
function stored(of: Bench, head: number, key: number): number {
  return Number((of.one(`.at-table data[data-head="${head}"][data-key="${key}"]`) as HTMLDataElement).value);
}

function openTable(of: Bench): void {
  const details = of.one('.at-pane > .at-details') as HTMLDetailsElement;
  details.open = true;
  details.dispatchEvent(new Event('toggle'));
}

describe('HeadPane', () => {
  it('shows the newest step at or before the cursor, and says which', async () => {
    const at = open({}, SMALL, 25);
    await at.pane('step', '20');
    at.go({ step: 31 });
    await at.pane('step', '30');
    expect(at.view.steps()).toEqual([10, 20, 30]);
    await at.until(() => at.element.dataset['step'] === '30');
  });

  it('says where attention begins when the cursor is before', async () => {
    const at = open({}, SMALL, 3);
    await at.until(() => at.one('[role="alert"]').textContent!.includes('first captured at step 10'));
    at.one('[role="alert"] button').click();
    await at.pane('step', '10');
  });

  it('fault 6: labels with the tokens of the item and step that are drawn', async () => {
    const at = open({ item: '1' });
    await at.pane('item', '1');
    await at.until(() => labels(at, 'query').length === 12);
    expect(labels(at, 'query')).toEqual([...SENTENCE].reverse());
    at.go({ params: { mode: 'head', item: '0' } });
    await at.pane('item', '0');
    expect(labels(at, 'key')).toEqual(SENTENCE);
  });

  it('fault 6: refuses labels whose number does not fit', async () => {
    const at = open({}, { ...SMALL, wrongTokens: ['a', 'b', 'c'] });
    await at.pane('step', '30');
    await at.until(() => labels(at, 'query').length === 12);
    expect(new Set(labels(at, 'query'))).toEqual(new Set(['–']));
    expect(at.one('.at-pane .at-note').textContent).toContain('3 and 3 tokens for 12 queries and 12 keys');
  });

  it('shows the stored bits of a pinned token, whichever links are drawn', async () => {
    const at = open({ heads: '0,2', pins: 'q3', threshold: '0.5', layer: '2' });
    await at.pane('heads', '0,2');
    openTable(at);
    for (const head of [0, 2]) {
      const row = at.source.row(2, head, 30, 0, 3);
      row.forEach((weight, key) => expect(Math.fround(stored(at, head, key))).toBe(weight));
    }
    expect(at.one('.at-card').textContent).toContain('##val (3) as query');
  });

  it('shows a token under the pointer and pins it with a click; the pin is in the link', async () => {
    const at = open();
    await at.pane('step', '30');
    await at.until(() => at.all('.at-token').length === 24);
    const token = at.one('.at-token[data-side="query"][data-index="4"]');
    token.dispatchEvent(new Event('pointerenter'));
    expect(at.one('.at-card h2').textContent).toBe('forest (4) as query');
    token.click();
    expect(at.state.params['pins']).toBe('q4');
    await at.until(() => token.getAttribute('aria-pressed') === 'true');
    at.element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    expect(at.state.params['pins']).toBeUndefined();
  });

  it('shows the entropy of whole rows only; of a row that is cut off, what is seen of it', async () => {
    const whole = open({ first: 'all', pins: 'q1' });
    await whole.until(() => whole.element.querySelector('.at-card h3') !== null);
    expect(whole.one('.at-card h3').textContent).toMatch(/entropy [\d.]+ nats/);
    const cut = open({ first: '5', pins: 'q1' });
    await cut.until(() => cut.element.querySelector('.at-card h3') !== null);
    expect(cut.one('.at-card h3').textContent).toMatch(/gives [\d.]+ to the 5 of 12 keys shown/);
  });

  it('shows all links when what is pinned is not among the first tokens', async () => {
    const at = open({ first: '5', pins: 'q9', threshold: '0' });
    await at.pane('links', '25');
  });

  it('shows a button for some tokens, and for those that are pinned, where all are in sight', async () => {
    const tokens = [Array.from({ length: 400 }, (_, i) => `t${i}`)];
    const at = open({ first: 'all', rows: 'all', pins: 'q7' }, { ...SMALL, layers: 1, heads: 1, keyValueHeads: 1, size: 2, tokens, steps: [1] });
    await at.pane('length', '400');
    await at.until(() => at.all('.at-token[data-side="query"]').length > 0);
    const shown = at.all('.at-token[data-side="query"]').map((element) => Number(element.dataset['index']));
    expect(shown).toContain(7);
    expect(shown.at(-1)).toBeGreaterThan(370);
    expect(shown.length).toBeLessThan(60);
  });

  it('draws the strongest links of each query, and all of a token in focus', async () => {
    const at = open({ threshold: '0' });
    await at.pane('links', String(8 * 12));
    at.one('.at-token[data-side="key"][data-index="4"]').dispatchEvent(new Event('pointerenter'));
    expect(at.one('[data-pane]').dataset['links']).toBe('12'); // a fan: one from each query
  });

  it('shows at most eight heads in colours: a ninth is refused in words, and all of them are a mean', async () => {
    const many: FakeModel = { ...SMALL, heads: 12, keyValueHeads: 12 };
    const at = open({ heads: '0,1,2,3,4,5,6,7' }, many);
    await at.pane('heads', '0,1,2,3,4,5,6,7');
    at.one('.at-head[data-head="9"]').click();
    expect(at.state.params['heads']).toBe('0,1,2,3,4,5,6,7');
    expect(at.one('.at-refusal').textContent).toContain('At most 8 heads have a colour');
    at.one('.at-head[data-head="3"]').click();
    await at.pane('heads', '0,1,2,4,5,6,7');
    expect(at.one('.at-refusal').textContent).toBe('');
    at.all('.at-strip > button')[0]!.click();
    expect(at.state.params).toMatchObject({ heads: 'all', together: 'mean' });
    await at.until(() => at.one('.at-links canvas').getAttribute('aria-label')!.includes('mean of heads 0, 1, 2'));
    const links = at.all('.at-head[aria-pressed="true"]');
    expect(links.length).toBe(12);
  });

  it('shows the first eight of more heads that a link names', async () => {
    const at = open({ heads: 'all' }, { ...SMALL, heads: 12, keyValueHeads: 12 });
    await at.pane('heads', '0,1,2,3,4,5,6,7');
  });

  it('puts the pieces of words together on wish, with the weights of the words', async () => {
    const at = open({ words: 'merged', threshold: '0', top: '0' });
    await at.pane('links', '100');
    await at.until(() => labels(at, 'key').length === 10);
    expect(labels(at, 'key').slice(0, 5)).toEqual(['[CLS]', 'the', 'primeval', 'forest', 'burns']);
  });

  it('shows the rollout of the layers below', async () => {
    const at = open({ together: 'rollout', layer: '2', pins: 'q1' });
    await at.until(() => at.source.asked.some((address) => address.includes('/rollout?') && address.includes('layer=2')));
    await at.until(() => at.element.querySelector('.at-card h3')?.textContent?.startsWith('Rollout of layers 0 to 2') ?? false);
  });

  it('shows all tokens when the second sentence is asked for and was not in sight', async () => {
    const at = open({ first: '5' });
    await at.pane('step', '30');
    await at.until(() => labels(at, 'key').length === 5);
    const chooser = at.all('.at-field').find((field) => field.textContent!.startsWith('Sentences'))!.querySelector('select')!;
    chooser.value = 'ab';
    chooser.dispatchEvent(new Event('change'));
    expect(at.state.params).toMatchObject({ between: 'ab', first: 'all' });
    await at.until(() => labels(at, 'key').length === 12);
  });

  it('counts links as the threshold moves', async () => {
    const at = open({ threshold: '0', top: '0' });
    await at.pane('links', '144');
    const bar = at.one('input[type="range"]') as HTMLInputElement;
    bar.value = '0.2';
    bar.dispatchEvent(new Event('input'));
    let strong = 0;
    for (let query = 0; query < 12; query++) for (const weight of at.source.row(0, 0, 30, 0, query)) if (weight >= 0.2) strong++;
    expect(strong).toBeGreaterThan(0);
    expect(at.one('[data-pane]').dataset['links']).toBe(String(strong));
    expect(at.one('.at-count').textContent).toBe(`${strong} links`);
    expect(at.state.params['threshold']).toBe('0'); // the link changes when the slider rests
    bar.dispatchEvent(new Event('change'));
    expect(at.state.params['threshold']).toBe('0.2');
  });

  it('never shows an answer that something newer has overtaken', async () => {
    const at = open({}, SMALL, 10);
    await at.pane('step', '10');
    at.source.held = true;
    at.go({ step: 20, params: { mode: 'head', layer: '1' } });
    at.go({ step: 30, params: { mode: 'head', layer: '2' } });
    await at.until(() => at.source.givenUp.some((address) => address.includes('layer=1&step=20')));
    at.source.release();
    const pane = await at.pane('layer', '2');
    expect(pane.dataset['step']).toBe('30');
  });

  it('asks ahead for the steps around', async () => {
    const at = open({}, SMALL, 20);
    await at.pane('step', '20');
    await at.until(() => [10, 30].every((step) => at.source.asked.some((address) => address.includes(`/head?`) && address.endsWith(`step=${step}`))));
    const asked = at.source.asked.length;
    at.go({ step: 30 });
    await at.pane('step', '30');
    expect(at.source.asked.slice(asked).filter((address) => address.endsWith('step=30'))).toEqual([]);
  });

  it('shows a step that has just been written', async () => {
    const at = open();
    await at.pane('step', '30');
    at.source.model.steps.push(40);
    at.source.notify({ kind: 'steps', last_step: 40 });
    await at.pane('step', '40');
    at.source.model.steps.pop();
  });

  it('shows rows of single tokens where a text is too long for all', async () => {
    const long = { ...SMALL, layers: 1, heads: 1, keyValueHeads: 1, size: 2, tokens: [Array.from({ length: 1500 }, (_, i) => `t${i}`)], steps: [1] };
    const at = open({ first: 'all', pins: 'q1400' }, long);
    await at.pane('length', '1500');
    expect(at.source.asked.filter((address) => address.includes('/head?'))).toEqual([]);
    openTable(at);
    expect(Math.fround(stored(at, 0, 7))).toBe(at.source.row(0, 0, 1, 0, 1400)[7]);
    expect(at.all('.at-token').length).toBeLessThan(200);
  });

  it('moves over layers and heads by keys', async () => {
    const at = open();
    await at.pane('layer', '0');
    at.view.key(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
    at.view.key(new KeyboardEvent('keydown', { key: '.' }));
    expect([at.state.params['layer'], at.state.params['heads']]).toEqual(['1', '1']);
    await at.pane('layer', '1');
    expect(at.view.key(new KeyboardEvent('keydown', { key: 'x' }))).toBe(false);
  });

  it('shows how weights have changed since another step, with their signs', async () => {
    const at = open({ b: '10', heads: '1', threshold: '0', pins: 'q2', first: 'all', top: '0' });
    await at.pane('compared', 'step 10');
    const [now, then] = [at.source.row(0, 1, 30, 0, 2), at.source.row(0, 1, 10, 0, 2)];
    const csv = (await (await at.view.snapshot('csv'))!.data.text()).trim().split('\r\n').slice(1).map((line) => line.split(','));
    expect(csv.length).toBe(12);
    for (const cells of csv) expect(Number(cells[8])).toBeCloseTo(now[Number(cells[6])]! - then[Number(cells[6])]!, 6);
    expect(csv.some((cells) => Number(cells[8]) < 0)).toBe(true);
    expect(at.one('.at-card').textContent).toContain('Head 1, less than at step 10');
  });

  it('shows the step that others are compared with as it is, and changes from the next step on', async () => {
    const at = open({ b: '30', threshold: '0' });
    await at.pane('links', '96');
    await at.until(() => at.one('.at-status').textContent === 'Step 30 (eval 2), which others are compared with');
    expect(at.one('[data-pane]').dataset['compared']).toBe('');
    at.source.model.steps.push(40);
    at.source.notify({ kind: 'steps', last_step: 40 });
    await at.pane('compared', 'step 30');
    at.source.model.steps.pop();
  });

  it('compares no weights of different texts', async () => {
    const at = open({ b: '10' });
    const arrays = at.source.arrays.bind(at.source);
    at.source.arrays = async (path, parameters, signal) => {
      const answer = await arrays(path, parameters, signal);
      return parameters?.['step'] === 10 ? new Arrays(answer.arrays, { ...answer.metadata, tokens_key: JSON.stringify(SENTENCE.map((word) => `${word}!`)) }) : answer;
    };
    await at.until(() => at.one('[role="alert"]').textContent!.includes('tokens are others than those of step 10'));
  });

  it('gives away what it shows, exactly', async () => {
    const at = open({ pins: 'q2', threshold: '0' });
    await at.pane('links', '12');
    const csv = await (await at.view.snapshot('csv'))!.data.text();
    const lines = csv.trim().split('\r\n');
    expect(lines.length).toBe(13);
    expect(lines[5]).toBe(`30,0,0,0,2,prime,4,forest,${lines[5]!.split(',').at(-1)}`);
    expect(Math.fround(Number(lines[5]!.split(',').at(-1)))).toBe(at.source.row(0, 0, 30, 0, 2)[4]);
    const svg = await (await at.view.snapshot('svg'))!.data.text();
    expect(svg.match(/<line /g)!.length).toBe(12);
    const npy = new Uint8Array(await (await at.view.snapshot('npy'))!.data.arrayBuffer());
    expect(npy.length - 128).toBe(12 * 12 * 4);
  });

  it('has the server film the first of its heads, of no more tokens than a film can have', async () => {
    const at = open({ layer: '1', heads: '1,0', item: '1', first: 'all' });
    await at.pane('heads', '0,1');
    const film = (await at.view.film())!;
    expect(film.fileName).toBe('film.svg');
    expect(await film.data.text()).toMatch(/\/attention\/film\?first=64&head=0&item=1&layer=1$/);
  });

  it('writes tokens as texts, whatever they say', async () => {
    const hostile = ['<img src=x onerror=alert(1)>', '\u202eabc', ...SENTENCE.slice(2)];
    const at = open({}, { ...SMALL, tokens: [hostile] });
    await at.pane('step', '30');
    await at.until(() => labels(at, 'query').length === 12);
    expect(at.all('img')).toEqual([]);
    expect(labels(at, 'query').slice(0, 2)).toEqual(['<img src=x onerror=alert(1)>', '\\u{202e}abc']);
    expect(at.element.outerHTML).not.toContain('\u202e'); // in no label either
  });
});
