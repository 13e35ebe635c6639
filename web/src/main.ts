import { mount } from 'svelte';

import App from './app/App.svelte';

const element = document.getElementById('app');
if (element) mount(App, { target: element });
