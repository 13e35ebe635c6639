// How each view looks, on runs whose numbers are known, against what was seen before: parts, sizes, and where there is
// ink. Letters and edges may differ. `npm run looks` keeps what is seen now as the reference (e2e/looks/README.md).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Page } from '@playwright/test';

import { expect, type Runs, type Server, test, visit } from './harness';
import { differences } from './looks/compare';
import { type Seen, seenOf } from './looks/seen';

interface Look {
  name: string;
  link: string;
  flows?: boolean;
}

const LOOKS: readonly Look[] = [
  { name: 'home', link: '#/run/training/home', flows: true },
  { name: 'scalars', link: '#/run/training/scalars' },
  { name: 'tensors', link: '#/run/training/tensors' },
  { name: 'histogram', link: '#/run/training/tensors?tensor=conv1.weight&tab=histogram' },
  { name: 'values', link: '#/run/training/tensors?tensor=conv1.weight&tab=values' },
  { name: 'pictures', link: '#/run/training/tensors?tensor=conv1.weight&tab=pictures' },
  { name: 'layers', link: '#/run/layers/layers' },
  { name: 'rules', link: '#/run/training/rules' },
  { name: 'confusion', link: '#/run/training/confusion' },
  { name: 'compare', link: '#/run/training/compare?b=%40apart' },
  { name: 'model', link: '#/run/attention/attention' },
  { name: 'head', link: '#/run/attention/attention?mode=head&layer=1' },
  { name: 'matrix', link: '#/run/attention/attention?mode=matrix&layer=1' },
  { name: 'neuron', link: '#/run/attention/attention?mode=neuron&layer=1' },
];
const VARIANTS = [
  { scheme: 'light', width: 1440, height: 1500 },
  { scheme: 'dark', width: 1440, height: 1500 },
  { scheme: 'light', width: 390, height: 1700 },
] as const;
const REFRESHES = process.env.TRAINWARDEN_REFRESH_LOOKS === '1';

type References = Record<string, Seen>;

function fileOf(variant: (typeof VARIANTS)[number]): string {
  return resolve('e2e/looks/references', `${variant.scheme}-${variant.width}.json`);
}

function referencesOf(variant: (typeof VARIANTS)[number]): References {
  const file = fileOf(variant);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as References) : {};
}

function write(runs: Runs): void {
  runs.write('training');
  runs.write('apart');
  runs.write('attention');
  runs.write('layers', 'layers', 60);
  try {
    runs.trainwarden('watch', 'training', '--rule', 'NonFiniteOrigin', '--rule', 'DeadRelu');
  } catch {
    // Its exit status says that a rule has fired, as it should; the view of rules shows it.
  }
}

async function look(page: Page, server: Server, { link }: Look): Promise<Seen> {
  await page.goto(server.at(link));
  await page.waitForFunction(() => document.querySelector('[data-drawn], .empty') !== null);
  return seenOf(page);
}

for (const variant of VARIANTS) {
  test(`each view looks as it did, ${variant.scheme}, ${variant.width} pixels wide`, async ({ page, runs, server }) => {
    test.setTimeout(300_000); // fourteen views, each looked at until it is still; a busy machine is no fault
    write(runs);
    await page.emulateMedia({ colorScheme: variant.scheme, reducedMotion: 'reduce' });
    await page.setViewportSize(variant);
    await visit(page, server);
    const seen: References = {};
    for (const each of LOOKS) seen[each.name] = await look(page, server, each);
    if (REFRESHES) {
      mkdirSync(resolve('e2e/looks/references'), { recursive: true });
      writeFileSync(fileOf(variant), `{\n${Object.entries(seen).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(',\n')}\n}\n`);
    }
    const before = referencesOf(variant);
    const found = LOOKS.flatMap(({ name, flows = false }) =>
      differences(seen[name]!, before[name]!, { page: variant.width, flows }).map((what) => `${name}: ${what}`));
    expect(found).toEqual([]);
  });
}

const HARMS = [['opacity', '0'], ['transform', 'scaleX(-1)'], ['filter', 'hue-rotate(120deg)']] as const;
const MANY_COLOURS = 'scalars'; // whose mean is grey, however they are turned

test('another font is no difference; a picture that is gone, moved or recoloured is one', async ({ page, runs, server }) => {
  test.setTimeout(300_000);
  write(runs);
  const [variant] = VARIANTS;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize(variant);
  await visit(page, server);
  const before = referencesOf(variant);
  const style = (selector: string, name: string, value: string) => page.locator(selector).first().evaluate(
    (element: HTMLElement, [property, to]) => element.style.setProperty(property!, to!), [name, value]);
  for (const each of LOOKS.filter(({ name }) => ['scalars', 'layers', 'head'].includes(name))) {
    await page.goto(server.at(each.link));
    await style(':root', '--sans', 'serif');
    const compared = (seen: Seen) => differences(seen, before[each.name]!, { page: variant.width, flows: false });
    expect(compared(await look(page, server, each)), `${each.name} in serifs`).toEqual([]);
    for (const [name, value] of HARMS.filter(([harm]) => each.name !== MANY_COLOURS || harm !== 'filter')) {
      await style('main canvas', name, value);
      expect(compared(await seenOf(page)).join(), `${each.name}, ${name}: ${value}`).toContain('picture 1');
      await style('main canvas', name, '');
    }
  }
});
