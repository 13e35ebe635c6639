import './app/theme.css';

import { mount } from 'svelte';

import App from './app/App.svelte';
import { applyTheme, chosenTheme } from './app/theme';
import type { HttpSource } from './data/http_source';

function start(source?: HttpSource): void {
  const element = document.getElementById('app');
  if (element) mount(App, { target: element, props: source ? { source } : {} });
}

/** A page that was saved with its answers. */
async function startSaved(): Promise<void> {
  const { savedRun } = await import('./data/archive');
  const saved = savedRun();
  if (saved && /^#?\/?$/.test(location.hash)) history.replaceState(null, '', saved.link);
  start(saved?.source);
}

applyTheme(chosenTheme());
// Not awaited: the bundler would split what both parts use from the rest.
if (document.getElementById('answers')) void startSaved();
else start();
