import './app/theme.css';

import { mount } from 'svelte';

import App from './app/App.svelte';
import { applyTheme, chosenTheme } from './app/theme';

applyTheme(chosenTheme());
const saved = document.getElementById('answers') ? (await import('./data/archive')).savedRun() : undefined;
if (saved && /^#?\/?$/.test(location.hash)) history.replaceState(null, '', saved.link);
const element = document.getElementById('app');
if (element) mount(App, { target: element, props: saved ? { source: saved.source } : {} });
