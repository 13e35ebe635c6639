import './app/theme.css';

import { mount } from 'svelte';

import App from './app/App.svelte';
import { applyTheme, chosenTheme } from './app/theme';

applyTheme(chosenTheme());
const element = document.getElementById('app');
if (element) mount(App, { target: element });
