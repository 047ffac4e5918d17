// happy-dom lacks what Mantine asks of a browser, and no test speaks to a network.
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

import { answer } from "./server";

window.matchMedia ??= ((query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  addListener: () => undefined,
  removeListener: () => undefined,
  onchange: null,
  dispatchEvent: () => false,
})) as typeof window.matchMedia;

window.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

Object.defineProperty(document, "fonts", { configurable: true, value: new EventTarget() });

configure({ asyncUtilTimeout: 15_000 });

globalThis.fetch = answer as typeof fetch;

afterEach(() => {
  cleanup();
  localStorage.clear();
});
