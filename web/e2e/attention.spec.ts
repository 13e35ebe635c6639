// Attention in the page of a run whose numbers are known: what is on the page is read back from its own DOM and compared
// with what `trainwarden value` reads from the run's files.
import type { Locator, Page } from '@playwright/test';

import { axeViolations, expect, picture, type Runs, test, visit } from './harness';

const [HEADS, TOKENS, SIZE] = [4, 24, 8];

/** The evaluation at mode step `step` is the run's global step 2 · step + 1: one of training is before each. */
const globalStep = (step: number): number => 2 * step + 1;

function stored(runs: Runs, tensor: string, step: number): number[] {
  const place = `encoder.layer.${tensor}`;
  const answer = JSON.parse(runs.trainwarden('value', 'attention', place, '--step', String(step), '--json', '--elements')) as { elements: number[] };
  return answer.elements;
}

const pane = (page: Page): Locator => page.locator('[data-pane]');

async function numbers(page: Page, selector: string): Promise<number[]> {
  return page.locator(selector).evaluateAll((found) => found.map((element) => Math.fround(Number((element as HTMLDataElement).value))));
}

/** The browser says that a part was opened in a later task than the click: the table is there only then. */
async function openTable(page: Page): Promise<void> {
  await page.getByText('As a table', { exact: true }).click();
  await page.locator('details[open] .at-table').first().waitFor();
}

/** What WCAG wants of each mode. */
async function expectAccessible(page: Page): Promise<void> {
  expect(await axeViolations(page)).toEqual([]);
}

test.describe('the head view', () => {
  test('shows the stored bits, and the tokens of the step and item that is shown', async ({ page, runs, server }) => {
    runs.write('attention');
    const step = globalStep(3);
    await visit(page, server, `#/run/attention/attention?mode=head&layer=1&heads=2&item=1&pins=q5&first=all&step=${step}`);
    await expect(pane(page)).toHaveAttribute('data-step', String(step));
    await openTable(page);
    const probs = stored(runs, '1.attention.self.probs', step);
    const row = ((1 * HEADS + 2) * TOKENS + 5) * TOKENS;
    expect(await numbers(page, '.at-table data[data-head="2"]')).toEqual(probs.slice(row, row + TOKENS).map(Math.fround));
    await expect(page.locator('.at-card h2')).toHaveText('s3i1t5 (5) as query');
    await expect(page.locator('.at-token[data-side="key"][data-index="7"]')).toHaveText('7s3i1t7');
    await page.getByLabel('Batch item').selectOption('0');
    await expect(page.locator('.at-token[data-side="key"][data-index="7"]')).toHaveText('7s3i0t7');
    await picture(page, 'attention-head');
    await expectAccessible(page);
  });

  test('works out weights that were not captured, and they sum to one', async ({ page, runs, server }) => {
    runs.write('attention');
    await visit(page, server, '#/run/attention/attention?mode=head&layer=2&heads=0&pins=q3&first=all');
    await expect(pane(page)).toHaveAttribute('data-layer', '2');
    await openTable(page);
    const weights = await numbers(page, '.at-table data[data-head="0"]');
    expect(weights.length).toBe(TOKENS);
    expect(weights.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
    await expect(page.locator('.at-pane .at-note')).toContainText('worked out from the captured queries and keys');
  });

  test('follows the pointer, pins by click, and lets go by Escape', async ({ page, runs, server }) => {
    runs.write('attention');
    await visit(page, server, '#/run/attention/attention?mode=head&first=all');
    await page.locator('.at-token[data-side="query"][data-index="2"]').hover();
    await expect(page.locator('.at-card h2')).toContainText('(2) as query');
    const links = Number(await pane(page).getAttribute('data-links'));
    expect(links).toBeLessThanOrEqual(TOKENS);
    await page.locator('.at-token[data-side="query"][data-index="2"]').click();
    await expect(page).toHaveURL(/pins=q2/);
    await page.locator('.at-token[data-side="key"][data-index="4"]').hover();
    await expect(page.locator('.at-card .at-pair')).toContainText('(4)');
    await page.keyboard.press('Escape');
    await expect(page).not.toHaveURL(/pins=/);
  });

  test('draws links as wide as their weights, the first time and every time', async ({ page, runs, server }) => {
    runs.write('attention');
    await visit(page, server, `#/run/attention/attention?mode=head&first=all&step=${globalStep(1)}`);
    const pixels = async (): Promise<string> => {
      await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(1)));
      await page.waitForTimeout(150);
      return page.locator('.at-links canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    };
    const first = await pixels();
    await page.keyboard.press('ArrowDown');
    await expect(pane(page)).toHaveAttribute('data-layer', '1');
    await page.keyboard.press('ArrowUp');
    await expect(pane(page)).toHaveAttribute('data-layer', '0');
    expect(await pixels()).toBe(first);
  });

  test('goes over steps, layers and heads by keys alone', async ({ page, runs, server }) => {
    runs.write('attention');
    await visit(page, server, '#/run/attention/attention?mode=head');
    await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(5)));
    await page.keyboard.press('[');
    await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(4)));
    await page.keyboard.press('.');
    await expect(pane(page)).toHaveAttribute('data-heads', '1');
    await page.keyboard.press('ArrowDown');
    await expect(pane(page)).toHaveAttribute('data-layer', '1');
    await page.locator('.at-token[data-side="query"]').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/pins=q1/);
  });

  test('draws 512 tokens in time', async ({ page, runs, server }) => {
    runs.write('head');
    await visit(page, server, '#/run/head/attention?mode=head&first=all');
    await expect(pane(page)).toHaveAttribute('data-length', '512');
    const times: number[] = [];
    for (let i = 1; i <= 5; ++i) {
      await page.locator('.at-scroll').evaluate((scroller, top) => (scroller.scrollTop = top), i * 900);
      await page.waitForTimeout(200);
      times.push(Number(await pane(page).getAttribute('data-frame-ms')));
    }
    times.sort((a, b) => a - b);
    expect(times[2]).toBeLessThan(400); // the target is 100 ms on a machine of one's own; the bench measures it
    await picture(page, 'attention-512');
  });
});

test.describe('the neuron view', () => {
  test('sums agree with what they are sums of, after every choice', async ({ page, runs, server }) => {
    runs.write('attention');
    const step = globalStep(2);
    await visit(page, server, `#/run/attention/attention?mode=neuron&layer=1&heads=3&item=1&first=all&step=${step}`);
    await expect(pane(page)).toHaveAttribute('data-query', '0');
    await openTable(page);
    const [q, k] = [stored(runs, '1.attention.self.query', step), stored(runs, '1.attention.self.key', step)];
    for (const [query, key] of [[6, 2], [17, 23], [0, 0]] as const) {
      await page.locator(`.at-tokens-query [data-index="${query}"]`).click();
      await page.locator(`.at-tokens-key [data-index="${key}"]`).click();
      await expect(pane(page)).toHaveAttribute('data-query', String(query));
      await expect(pane(page)).toHaveAttribute('data-key', String(key));
      const from = ((1 * HEADS + 3) * TOKENS + query) * SIZE;
      expect(await numbers(page, 'data[data-column="query"]')).toEqual(q.slice(from, from + SIZE).map(Math.fround));
      const keyFrom = ((1 * 2 + 1) * TOKENS + key) * SIZE; // heads 2 and 3 share key head 1
      expect(await numbers(page, 'data[data-column="key"]')).toEqual(k.slice(keyFrom, keyFrom + SIZE).map(Math.fround));
      const [product, dot, softmax] = [await numbers(page, 'data[data-column="product"]'), await numbers(page, 'data[data-column="dot"]'), await numbers(page, 'data[data-column="softmax"]')];
      expect(product.reduce((a, b) => a + b, 0)).toBeCloseTo(dot[key]!, 4);
      expect(softmax.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
      await expect(page.locator('[data-invariant="dot"]')).toContainText('✓');
      await expect(page.locator('[data-invariant="softmax"]')).toContainText('✓');
    }
    await picture(page, 'attention-neuron');
    await expectAccessible(page);
  });

  test('ends in the weights that the head view shows', async ({ page, runs, server }) => {
    runs.write('attention');
    const step = globalStep(4);
    await visit(page, server, `#/run/attention/attention?mode=neuron&layer=0&heads=1&query=9&first=all&step=${step}`);
    await expect(pane(page)).toHaveAttribute('data-query', '9');
    await openTable(page);
    const softmax = await numbers(page, 'data[data-column="softmax"]');
    const probs = stored(runs, '0.attention.self.probs', step).slice((1 * TOKENS + 9) * TOKENS, (1 * TOKENS + 10) * TOKENS);
    softmax.forEach((weight, key) => expect(weight).toBeCloseTo(probs[key]!, 6));
  });
});

test.describe('the model view', () => {
  test('shows all heads, and opens one at the same step', async ({ page, runs, server }) => {
    runs.write('attention');
    const step = globalStep(2);
    await visit(page, server, `#/run/attention/attention?step=${step}`);
    await expect(page.locator('.at-cell')).toHaveCount(3 * HEADS);
    await page.getByText('Numbers of all heads').click();
    await page.getByText('Heads over the training').click();
    await expect(page.locator('.at-multiple canvas')).toHaveCount(3);
    await picture(page, 'attention-model');
    await expectAccessible(page);
    await page.locator('.at-cell[data-layer="1"][data-head="2"]').click();
    await expect(pane(page)).toHaveAttribute('data-heads', '2');
    await expect(pane(page)).toHaveAttribute('data-step', String(step));
  });

  test('has the entropy of the stored weights', async ({ page, runs, server }) => {
    runs.write('attention');
    const step = globalStep(0);
    await visit(page, server, `#/run/attention/attention?item=1&step=${step}`);
    await page.getByText('Numbers of all heads').click();
    const shown = Number(await page.locator('data[data-metric="entropy"][data-layer="0"][data-head="3"]').getAttribute('value'));
    const from = (1 * HEADS + 3) * TOKENS * TOKENS;
    const probs = stored(runs, '0.attention.self.probs', step).slice(from, from + TOKENS * TOKENS);
    expect(shown).toBeCloseTo(probs.reduce((sum, weight) => sum - weight * Math.log(weight), 0) / TOKENS, 4);
  });
});

test('every mode follows a run that is being written', async ({ page, runs, server }) => {
  const live = runs.live('live', 'live-attention');
  await live.step();
  await visit(page, server, '#/run/live/attention?mode=head');
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(0)));
  for (const [index, mode] of ['head', 'model', 'matrix', 'text', 'neuron'].entries()) {
    await page.locator(`button[data-mode="${mode}"]`).click();
    const { step } = await live.step();
    expect(step).toBe(index + 1);
    await expect(page.locator(`[data-pane="${mode}"]`)).toHaveAttribute('data-step', String(globalStep(step)));
  }
  await page.keyboard.press('l'); // no longer
  await live.step();
  await page.waitForTimeout(500);
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(5)));
  await page.keyboard.press('l');
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(6)));
  await live.end();
});

test('two steps are compared by their signs', async ({ page, runs, server }) => {
  runs.write('attention');
  await visit(page, server, `#/run/attention/attention?mode=model&step=${globalStep(5)}&b=${globalStep(1)}`);
  await expect(page.locator('.at-status')).toContainText('compared with step 3');
  await picture(page, 'attention-compared');
  await visit(page, server, `#/run/attention/attention?mode=head&step=${globalStep(5)}&b=${globalStep(1)}`);
  await expect(page.locator('[role="alert"]')).toContainText('The tokens are others than those of step 3');
});

test('a matrix of 4,096 tokens is tiles and single rows', async ({ page, runs, server }) => {
  runs.write('long');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await visit(page, server, '#/run/long/attention?mode=matrix&query=4000&key=17');
  await expect(pane(page)).toHaveAttribute('data-length', '4096');
  await expect(page.locator('.at-reading')).toContainText('s1i0t4000 (4000) gives s1i0t17 (17)');
  for (let i = 0; i < 4; ++i) await page.getByRole('button', { name: 'Larger' }).click();
  await expect(page.locator('.at-map')).toBeVisible();
  await expect.poll(() => asked.some((url) => url.includes('/tile?') && url.includes('level=0'))).toBe(true);
  expect(asked.filter((url) => url.includes('/attention/head'))).toEqual([]);
  await page.waitForTimeout(500);
  await picture(page, 'attention-long');
  await expectAccessible(page);
});

test('each picture can be taken away, and its numbers are those of the run', async ({ page, runs, server }) => {
  runs.write('attention');
  const { readFileSync } = await import('node:fs');
  const step = globalStep(1);
  await visit(page, server);
  for (const mode of ['model', 'head', 'arcs', 'matrix', 'text', 'neuron']) {
    await page.goto(server.at(`#/run/attention/attention?mode=${mode}&layer=1&heads=2&query=3&first=all&top=0&threshold=0&step=${step}`));
    await expect(page.locator(`[data-pane="${mode}"]`)).toHaveAttribute('data-step', String(step));
    await page.waitForTimeout(300);
    await page.getByRole('button', { name: 'Export' }).click();
    const files: Record<string, Buffer> = {};
    for (const kind of ['SVG', 'PNG', 'CSV', 'NPY']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: new RegExp(`^${kind}`) }).click()]);
      files[kind] = readFileSync(await download.path());
      expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${kind.toLowerCase()}$`));
    }
    expect(files['SVG']!.toString()).toMatch(/^<svg /);
    expect(files['PNG']!.subarray(1, 4).toString()).toBe('PNG');
    expect(files['PNG']!.length).toBeGreaterThan(1000);
    expect(files['NPY']!.subarray(1, 6).toString()).toBe('NUMPY');
    if (mode === 'head' || mode === 'matrix') {
      const probs = stored(runs, '1.attention.self.probs', step).slice(2 * TOKENS * TOKENS, 3 * TOKENS * TOKENS);
      const npy = files['NPY']!.subarray(files['NPY']!.length - 4 * TOKENS * TOKENS);
      expect(Array.from({ length: TOKENS * TOKENS }, (_, i) => npy.readFloatLE(4 * i))).toEqual(probs.map(Math.fround));
    }
    await page.keyboard.press('Escape');
  }
});

test('a head can be taken away as a film, which shows one step after the other', async ({ page, runs, server }) => {
  runs.write('attention');
  const { readFileSync } = await import('node:fs');
  await visit(page, server, '#/run/attention/attention?mode=head&layer=1&heads=2&item=1&first=8');
  await expect(pane(page)).toHaveAttribute('data-heads', '2');
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /SVG that plays/ }).click()]);
  expect(download.suggestedFilename()).toBe('attention-attention-layer1-head2-film.svg');
  const film = readFileSync(await download.path()).toString();
  const alone = await page.context().newPage();
  await alone.setContent(film);
  const shown = await alone.evaluate(() => {
    const animations = document.getAnimations();
    const seconds = Number(animations[0]!.effect!.getComputedTiming().duration);
    return animations.map((_, i) => {
      for (const animation of animations) {
        animation.pause();
        animation.currentTime = ((i + 0.5) * seconds) / animations.length;
      }
      const frames = [...document.querySelectorAll('.f')].filter((frame) => getComputedStyle(frame).visibility === 'visible');
      return frames.map((frame) => frame.querySelector('text')!.textContent).join(' and ');
    });
  });
  expect(shown.length).toBeGreaterThan(2);
  expect(shown).toEqual(shown.map((_, step) => `step ${globalStep(step)} (eval ${step})`));
  for (const step of [0, 2]) await expect(alone.locator('.f').nth(step)).toContainText(`s${step}i1t7`); // each step has tokens of its own
  await picture(alone, 'attention-film');
});

test('a text marks its tokens', async ({ page, runs, server }) => {
  runs.write('attention');
  await visit(page, server, '#/run/attention/attention?mode=text&query=4');
  await expect(page.locator('.at-word')).toHaveCount(TOKENS);
  await picture(page, 'attention-text');
  await expectAccessible(page);
});

test('the mapping says what was guessed, and takes a file', async ({ page, runs, server }) => {
  const folder = runs.write('attention');
  await visit(page, server, '#/run/attention/attention?mode=mapping');
  await expect(pane(page)).toHaveAttribute('data-source', 'guessed');
  const text = await page.locator('.at-toml').inputValue();
  expect(text).toContain('query = "encoder.layer.{layer}.attention.self.query"');
  await picture(page, 'attention-mapping');
  await expectAccessible(page);
  (await import('node:fs')).writeFileSync(`${folder}/attention.toml`, text);
  await page.getByRole('button', { name: 'Look again' }).click();
  await expect(pane(page)).toHaveAttribute('data-source', 'file');
});

test('in the dark, and on a narrow screen', async ({ page, runs, server }) => {
  runs.write('attention');
  await page.emulateMedia({ colorScheme: 'dark' });
  for (const [mode, width] of [['model', 1280], ['head', 1280], ['head', 380], ['arcs', 1280], ['arcs', 380], ['neuron', 1280], ['neuron', 380], ['matrix', 380]] as const) {
    await page.setViewportSize({ width, height: 860 });
    await visit(page, server, `#/run/attention/attention?mode=${mode}&first=all&pins=q3&query=3`);
    await expect(pane(page)).toHaveAttribute('data-step', /\d/);
    await page.waitForTimeout(250);
    await picture(page, `attention-${mode}-dark-${width}`);
    await expectAccessible(page);
  }
});

test('Space plays after a click on a button, and presses a button that Tab has reached; never both', async ({ page, runs, server }) => {
  runs.write('attention');
  await visit(page, server, `#/run/attention/attention?mode=head&heads=1&step=${globalStep(1)}`);
  await expect(pane(page)).toHaveAttribute('data-heads', '1');
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await expect(pane(page)).toHaveAttribute('data-heads', '0,1,2,3');
  await page.keyboard.press(' ');
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(5))); // it plays to the end
  await expect(pane(page)).toHaveAttribute('data-heads', '0,1,2,3');
  await page.keyboard.press('Shift+Tab'); // to the last head
  await expect(page.locator('.at-head[data-head="3"]')).toBeFocused();
  await page.keyboard.press(' ');
  await expect(pane(page)).toHaveAttribute('data-heads', '0,1,2');
  await page.waitForTimeout(600);
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(5))); // and does not play again
});

test('the neuron view has all of a narrow place in a wide window, as in the cell of a notebook', async ({ page, runs, server }) => {
  runs.write('attention');
  await page.setViewportSize({ width: 1440, height: 860 });
  await visit(page, server, '#/run/attention/attention?mode=neuron');
  await expect(pane(page)).toHaveAttribute('data-step', /\d/);
  await page.locator('.attention').evaluate((element) => (element.style.width = '600px'));
  await expect.poll(async () => (await page.locator('.at-neuron').boundingBox())!.width).toBe(600);
});

test('what is shown can be filmed over steps as a GIF, and the page is then where it was', async ({ page, runs, server }) => {
  runs.write('attention');
  const { readFileSync } = await import('node:fs');
  await visit(page, server, `#/run/attention/attention?mode=head&layer=1&step=${globalStep(4)}`);
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(4)));
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByLabel('From step').fill(String(globalStep(1)));
  await expectAccessible(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Film of 5 steps' }).click()]);
  expect(download.suggestedFilename()).toBe(`attention-attention-steps${globalStep(1)}_to_${globalStep(5)}.gif`);
  await expect(pane(page)).toHaveAttribute('data-step', String(globalStep(4)));
  const film = readFileSync(await download.path());
  const read = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const decoder = new ImageDecoder({ data: bytes, type: 'image/gif' });
    await decoder.tracks.ready;
    const { frameCount, repetitionCount } = decoder.tracks.selectedTrack!;
    const pictures = new Set<string>();
    for (let i = 0; i < frameCount; i++) {
      const { image } = await decoder.decode({ frameIndex: i });
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.displayWidth, image.displayHeight];
      canvas.getContext('2d')!.drawImage(image, 0, 0);
      pictures.add(canvas.toDataURL());
    }
    return { frameCount, repetitionCount, different: pictures.size };
  }, film.toString('base64'));
  expect(read).toEqual({ frameCount: 5, repetitionCount: Infinity, different: 5 });
});
