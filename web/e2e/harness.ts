// What the browser's tests share.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { test as base, expect, type Page } from '@playwright/test';

import { Runs, Server } from './served_runs';

export { type Kind, LiveRun, Runs, Server } from './served_runs';

const screenshots = resolve(process.env.TRAINWARDEN_E2E_OUT ?? '../build/page', 'screenshots');

interface Fixtures {
  runs: Runs;
  /** A server of `runs`, and the page let in to it. */
  server: Server;
}

export const test = base.extend<Fixtures>({
  runs: async ({}, use) => {
    const runs = new Runs();
    await use(runs);
    runs.close();
  },
  server: async ({ runs }, use) => {
    const server = await Server.start(runs.folder);
    await use(server);
    server.close();
  },
});

/** Shows the page to the browser: with the token first, then at the link ("#/run/NAME/VIEW?step=3"). */
export async function visit(page: Page, server: Server, link = '#/'): Promise<void> {
  await page.goto(server.url);
  await page.waitForSelector('main');
  if (link !== '#/') await page.goto(server.at(link));
}

/** A picture for people, kept with what CI leaves. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/** Everything that axe finds against WCAG 2.2 AA on the page as it is. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(resolve('node_modules/axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(async () => {
    const axe = (window as unknown as { axe: { run(options: object): Promise<{ violations: AxeViolation[] }> } }).axe;
    interface AxeViolation { id: string; nodes: { target: string[]; failureSummary: string }[] }
    const found = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(' ')}: ${n.failureSummary}`));
  });
}

export { expect };
