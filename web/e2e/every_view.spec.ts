// What must hold for each view of a run, whatever it shows.
import type { Page } from '@playwright/test';

import { views } from '../src/views';
import { axeViolations, expect, picture, test, visit } from './harness';

const IDS = views.map((view) => view.id);

/** Errors of the page: thrown, logged, or refused by its content security policy. */
function watched(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource')) errors.push(message.text());
  });
  return errors;
}

/** Waits until the view of the link has drawn, or says that it has nothing to draw. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[data-drawn], .empty') !== null);
}

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds nothing, in ${scheme}`, async ({ page, runs, server }) => {
    test.setTimeout(120_000);
    runs.write('training');
    runs.write('attention');
    await page.emulateMedia({ colorScheme: scheme });
    const errors = watched(page);
    await visit(page, server);
    await page.waitForSelector('table');
    expect(await axeViolations(page), 'the list of runs').toEqual([]);
    for (const id of IDS) {
      await page.goto(server.at(`#/run/${id === 'attention' ? 'attention' : 'training'}/${id}`));
      await settled(page);
      expect(await axeViolations(page), id).toEqual([]);
      await picture(page, `${id}-${scheme}`);
    }
    expect(errors).toEqual([]);
  });
}

test('names that try to be markup or commands are words, in each view', async ({ page, runs, server }) => {
  runs.write('hostile', 'hostile <b>run');
  const errors = watched(page);
  await visit(page, server);
  for (const id of IDS) {
    await page.goto(server.at(`#/run/${encodeURIComponent('hostile <b>run')}/${id}`));
    await settled(page);
    expect(await page.title()).not.toContain('owned');
    expect(await page.locator('main img, main script, h1 b, td b').count()).toBe(0);
    const text = await page.locator('body').innerText();
    // eslint-disable-next-line no-control-regex
    expect(text, id).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/);
  }
  expect(errors).toEqual([]);
});

test('a narrow screen has the content first in each view, its controls in a drawer, and does not scroll sideways', async ({ page, runs, server }) => {
  runs.write('training');
  await page.setViewportSize({ width: 390, height: 800 });
  await visit(page, server, '#/run/training/home');
  for (const id of IDS) {
    await page.goto(server.at(`#/run/training/${id}`));
    await settled(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth), id).toBeLessThanOrEqual(390);
    await expect(page.locator('nav a[aria-current]'), id).toBeInViewport({ ratio: 0.95 });
  }
  for (const [id, first] of [['confusion', '.confusion-frame canvas'], ['tensors', '.tn-rows']] as const) {
    await page.goto(server.at(`#/run/training/${id}`));
    await expect(page.locator(first), id).toBeVisible();
    await expect(page.locator(`[data-view="${id}"] select`).first()).toBeHidden();
    expect((await page.locator(first).boundingBox())!.y, id).toBeLessThan(320);
  }
  await page.locator('body').press('/');
  await expect(page.locator('[data-search]')).toBeFocused(); // in its drawer, which has opened
});

test('every view follows a run that is being written', async ({ page, runs, server }) => {
  test.setTimeout(120_000);
  const run = runs.live('live');
  await run.steps(10);
  const errors = watched(page);
  await visit(page, server);
  for (const id of ['scalars', 'tensors', 'confusion']) {
    await page.goto(server.at(`#/run/live/${id}`));
    await settled(page);
    await run.steps(5);
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('footer input, .time-bar input') !== null);
    const newest = await page.evaluate(async (token) => {
      const own = await fetch('/api/v1/runs', { headers: { Authorization: `Bearer ${token}` } });
      return ((await own.json()) as { runs: { last_step: number }[] }).runs[0]!.last_step;
    }, server.token);
    await page.waitForFunction(
      (step) => Number(document.querySelector<HTMLElement>('[data-drawn]')?.dataset.step ?? -1) >= step - 5, newest);
  }
  await run.end();
  await page.goto(server.at('#/run/live/home'));
  await expect(page.getByText('completed').first()).toBeVisible();
  expect(errors).toEqual([]);
});
