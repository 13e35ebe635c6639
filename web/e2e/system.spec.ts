// Time: where the time of a run goes. The answers are those of the unit tests, given by the browser: a run whose machine
// was busy in a known way cannot be made here.
import type { Page } from '@playwright/test';

import type { Arrays } from '../src/data/safetensors';
import { FROM, nestedCalls, sampleCalls, sampleFlame, sampleProfile, sampleSteps, sampleTimeline, sampleWindows } from '../src/views/system/profile_testing';
import { axeViolations, expect, picture, test, visit } from './harness';

function documentOf({ arrays, metadata }: Arrays): Buffer {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const [name, { dtype, shape, bytes }] of arrays) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.byteLength] };
    offset += bytes.byteLength;
  }
  const text = JSON.stringify(header);
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(Buffer.byteLength(text)));
  return Buffer.concat([head, Buffer.from(text), ...[...arrays.values()].map(({ bytes }) => Buffer.from(bytes))]);
}

/** What is asked of the profile, by its address. */
async function given(page: Page): Promise<string[]> {
  const asked: string[] = [];
  const json = (value: unknown) => ({ contentType: 'application/json', body: JSON.stringify(value) });
  const bytes = (arrays: Arrays) => ({ contentType: 'application/octet-stream', body: documentOf(arrays) });
  await page.route('**/api/v1/runs/*/profile**', async (route) => {
    const { pathname, search, searchParams } = new URL(route.request().url());
    const part = pathname.replace(/^.*\/profile/, '');
    asked.push(part + search);
    await new Promise((done) => setTimeout(done, 1500));
    const number = (name: string, otherwise: number) => Number(searchParams.get(name) ?? otherwise);
    switch (part) {
      case '': return route.fulfill(json(sampleProfile()));
      case '/timeline': return route.fulfill(json({ ...sampleTimeline(number('buckets', 240)), from_unix_ms: number('from_unix_ms', FROM), to_unix_ms: number('to_unix_ms', FROM + 240_000) }));
      case '/steps': return route.fulfill(bytes(sampleSteps()));
      case '/windows': return route.fulfill(json(sampleWindows));
      case '/calls': return route.fulfill(bytes(sampleCalls(nestedCalls(1874), number('step', 5))));
      case '/flame': return route.fulfill(json(sampleFlame()));
      default: return route.abort();
    }
  });
  return asked;
}

for (const scheme of ['light', 'dark'] as const) {
  test(`the verdict comes first, and all of it is for everybody, in ${scheme}`, async ({ page, runs, server }) => {
    test.setTimeout(120_000);
    runs.write('training');
    await page.emulateMedia({ colorScheme: scheme });
    await given(page);
    await visit(page, server, '#/run/training/system');
    await expect(page.locator('.panel').first()).toContainText('waits for its data');
    await expect(page.locator('[data-part="phases"] svg[role=img]').first()).toHaveAttribute('aria-label', /rank-00001: data wait 56 %/);
    await page.locator('[data-part="flame"]').scrollIntoViewIfNeeded();
    await expect(page.locator('.calls')).toHaveAttribute('aria-label', /1,874 calls on 2 tracks/);
    await expect(page.locator('[data-strip]')).toBeVisible(); // above the time bar
    expect(await axeViolations(page)).toEqual([]);
    await picture(page, `time-window-${scheme}`);
    await page.locator('main').evaluate((main) => main.scrollTo(0, 0));
    await picture(page, `time-${scheme}`);
  });
}

test('a drag zooms, a click goes to the step, and the link says so', async ({ page, runs, server }) => {
  runs.write('training');
  const asked = await given(page);
  await visit(page, server, '#/run/training/system');
  const line = page.locator('.time-line');
  await expect(line.locator('svg[role=img]')).toBeVisible(); // before that there is nothing to drag over
  await line.scrollIntoViewIfNeeded();
  const box = (await line.boundingBox())!;
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 600, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d{13}&to=\d{13}/);
  await expect.poll(() => asked.some((address) => /timeline\?.*from_unix_ms=\d{13}&to_unix_ms=\d{13}/.test(address))).toBe(true);
  await page.getByRole('button', { name: 'Whole run' }).click();
  await expect(page).not.toHaveURL(/from=/);
  await line.click({ position: { x: 400, y: 60 } });
  await expect(page).toHaveURL(/step=\d+/);
});

test('calls are walked through with keys, and their names are texts', async ({ page, runs, server }) => {
  runs.write('training');
  await given(page);
  await visit(page, server, '#/run/training/system');
  const calls = page.locator('.calls');
  await page.locator('[data-part="window"]').scrollIntoViewIfNeeded();
  await expect(calls).toHaveAttribute('aria-label', /1,874 calls/); // keys walk through what is there
  await calls.focus();
  for (const key of ['ArrowRight', 'ArrowDown', '+', 'ArrowRight']) await page.keyboard.press(key);
  await expect(page.locator('[data-call]')).toContainText('Called by');
  await page.locator('#time-all-operators').click();
  await expect(page.locator('.operators')).toContainText('<b>hostile</b>\\u{202e}operator');
  expect(await page.locator('main td b, main h3 b').count()).toBe(0);
});
