import { afterEach, describe, expect, it } from 'vitest';

import { arcOf, heightOf, layoutOf, middleOf, pathOf } from './arc_layout';
import { ArcPicture } from './arc_picture';
import type { Panes } from './attention_view';
import { type FakeModel, SMALL } from './fake_source';
import { HeadPane } from './head_pane';
import { Bench } from './test_bench';

const panes: Panes = {
  arcs: async () => (element, context) => new HeadPane(element, context, (handlers, drawn) => new ArcPicture(handlers, drawn)),
};

let bench: Bench | null = null;

function open(params: Record<string, string> = {}, model: FakeModel = SMALL): Bench {
  bench = new Bench(panes, { mode: 'arcs', threshold: '0', ...params }, model);
  return bench;
}

afterEach(() => {
  bench?.close();
  bench = null;
});

describe('the layout of arcs', () => {
  const layout = layoutOf(['[CLS]', 'a', 'very-long-word', '']);

  it('gives each token room for its text, and for a finger', () => {
    const widths = layout.edges.slice(1).map((edge, i) => edge - layout.edges[i]!);
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(24);
    expect(widths[2]).toBeGreaterThan(widths[1]!);
  });

  it('has links to the right above the line, to the left below, and stays within its height', () => {
    for (const [query, key] of [[0, 3], [3, 0], [1, 2], [2, 2]] as const) {
      const arc = arcOf(layout, query, key);
      expect(arc.side).toBe(query === key ? 'self' : key > query ? 'above' : 'below');
      const outermost = arc.side === 'below' ? arc.y + arc.up : arc.y - arc.up;
      expect(outermost).toBeGreaterThanOrEqual(0);
      expect(outermost).toBeLessThanOrEqual(heightOf(layout));
      if (arc.side === 'self') continue;
      expect(arc.x - arc.across).toBeCloseTo(middleOf(layout, Math.min(query, key)), 6);
      expect(arc.x + arc.across).toBeCloseTo(middleOf(layout, Math.max(query, key)), 6);
    }
    expect(pathOf(arcOf(layout, 0, 3))).toMatch(/^M[\d.]+ [\d.]+A[\d.]+ [\d.]+ 0 0 1 /);
    expect(pathOf(arcOf(layout, 3, 0))).toMatch(/^M[\d.]+ [\d.]+A[\d.]+ [\d.]+ 0 0 0 /);
  });
});

describe('ArcPicture', () => {
  it('has the links that the head view has, and a fan of the token in focus', async () => {
    const at = open();
    await at.pane('links', '96');
    await at.until(() => at.all('.at-line .at-token').length === 12);
    at.one('.at-token[data-index="4"]').dispatchEvent(new Event('pointerenter'));
    expect(at.one('[data-pane]').dataset['links']).toBe('12');
    expect(at.one('.at-card h2').textContent).toBe('forest (4) as query');
    at.one('.at-token[data-index="4"]').click();
    expect(at.state.params['pins']).toBe('q4');
    await at.until(() => at.one('.at-token[data-index="4"]').getAttribute('aria-pressed') === 'true');
  });

  it('goes over its tokens by arrows', async () => {
    const at = open();
    await at.until(() => at.all('.at-line .at-token').length === 12);
    at.one('.at-token[data-index="0"]').focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft']) {
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    }
    expect((document.activeElement as HTMLElement).dataset['index']).toBe('1');
  });

  it('shows changes from another step, and is a drawing with all of them', async () => {
    const at = open({ b: '10', top: '0' });
    await at.pane('compared', 'step 10');
    const svg = await (await at.view.snapshot('svg'))!.data.text();
    expect(svg.match(/<path /g)!.length).toBe(144);
    expect(new Set([...svg.matchAll(/stroke="(#\w+)"/g)].map((match) => match[1])).size).toBe(2);
    expect(svg).toContain('change from step 10');
  });

  it('says so where a text is too long for one line', async () => {
    const tokens = [Array.from({ length: 1500 }, (_, i) => `t${i}`)];
    const at = open({ first: 'all' }, { ...SMALL, layers: 1, heads: 1, keyValueHeads: 1, size: 2, tokens, steps: [1] });
    await at.until(() => at.element.textContent!.includes('1,500 tokens are too many for one line'));
    expect(at.all('.at-line .at-token')).toEqual([]);
  });
});
