// Pictures of each view of five real trainings: while they train and when they have ended, light and dark, wide and narrow.
//
//   npm run gallery -- [NAME...]     names select the trainings that begin with them, and "lists"
//
// They lie in build/page/gallery, one sheet a view: light above dark.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { type Browser, chromium as launcher, type Page } from '@playwright/test';

import { Server } from '../e2e/served_runs';
import { chromium } from '../playwright.config';

import { type Look, looksAt, places } from './looks';
import { Trained, type Training, trainings } from './trainings';

const out = resolve(process.env.TRAINWARDEN_GALLERY_OUT ?? '../build/page/gallery');
const SCHEMES = ['light', 'dark'] as const;
const SIZES = [{ width: 1440, height: 900 }, { width: 390, height: 844 }] as const;
const CALM_MS = 500; // for what fades in, and for pictures that come one by one
const START_MS = 60_000;

interface Tab {
  page: Page;
  name: string;
}

async function letIn(browser: Browser, server: Server): Promise<Tab[]> {
  const tabs: Tab[] = [];
  for (const colorScheme of SCHEMES) {
    for (const viewport of SIZES) {
      const page = await (await browser.newContext({ viewport, colorScheme })).newPage();
      await page.goto(server.url);
      await page.waitForSelector('main');
      tabs.push({ page, name: `${colorScheme}-${viewport.width}` });
    }
  }
  return tabs;
}

async function shoot(tabs: readonly Tab[], server: Server, group: string, looks: readonly Look[]): Promise<void> {
  for (const look of looks) {
    for (const { page, name } of tabs) {
      await page.goto(server.at(look.link));
      await page.waitForFunction(() => document.querySelector('[data-drawn], .empty, .fault:not([hidden]), .list-body') !== null, null, { timeout: 5000 })
        .catch(() => console.error(`${group}-${look.name}-${name} has drawn nothing`));
      await page.waitForTimeout(CALM_MS);
      await page.screenshot({ path: join(out, `${group}-${look.name}-${name}.png`) });
    }
    await sheet(tabs[0]!.page, `${group}-${look.name}`, tabs);
  }
}

/** All pictures of one view on one. */
async function sheet(page: Page, name: string, tabs: readonly Tab[]): Promise<void> {
  const pictures = tabs.map((tab) => `<img src="${name}-${tab.name}.png" height="900">`);
  const file = join(out, `sheet-${name}.html`);
  writeFileSync(file, `<body style="margin:8px;width:1880px;background:#888">${pictures.join('\n')}`);
  const own = await page.context().newPage();
  await own.goto(`file://${file}`);
  await own.screenshot({ path: join(out, `sheet-${name}.png`), fullPage: true });
  await own.close();
  rmSync(file);
}

async function reached(server: Server, training: Training, trained: Trained): Promise<void> {
  const until = Date.now() + START_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/runs`, { headers: { Authorization: `Bearer ${server.token}` } });
    const { runs } = (await answer.json()) as { runs: { name: string; last_step: number }[] };
    if ((runs.find(({ name }) => name === training.name)?.last_step ?? -1) >= training.held) return;
    if (trained.lastWords !== null) throw new Error(`${training.name} was over before it could be looked at:\n${trained.lastWords}`);
    if (Date.now() > until) throw new Error(`${training.name} has not come to step ${training.held}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

async function photograph(tabs: readonly Tab[], server: Server, training: Training, runs: string): Promise<void> {
  const trained = new Trained(training, runs);
  try {
    await reached(server, training, trained);
    trained.hold();
    await shoot(tabs, server, `${training.name}-live`, looksAt(training));
    await trained.finish();
    await shoot(tabs, server, `${training.name}-ended`, looksAt(training));
  } finally {
    trained.kill();
  }
}

async function main(wanted: readonly string[]): Promise<void> {
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((word) => name.startsWith(word));
  const runs = mkdtempSync(join(tmpdir(), 'trainwarden-gallery-'));
  mkdirSync(out, { recursive: true });
  const server = await Server.start(runs);
  const browser = await launcher.launch(chromium);
  try {
    const tabs = await letIn(browser, server);
    for (const training of trainings) {
      if (isWanted(training.name)) await photograph(tabs, server, training, runs);
    }
    if (isWanted('lists')) await shoot(tabs, server, 'lists', places);
    console.log(`${out} has them`);
  } finally {
    await browser.close();
    server.close();
    rmSync(runs, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
