import { act, renderHook } from "@testing-library/react";
import { expect, it } from "vitest";

import { empty } from "./content";
import { readKept, useKept } from "./keepLocally";

const saved = { ...empty, text: "Oboe" };
const open = (revision = 1) => renderHook(() => useKept("home", "post", saved, revision));

it("keeps what is typed, and brings it back", () => {
  const first = open();
  act(() => first.result.current.setContent({ ...saved, text: "Oboe and horn" }));
  first.unmount();
  expect(open().result.current.content.text).toBe("Oboe and horn");
});

it("forgets what was typed when it is as saved again, with the revision that it began on", () => {
  const first = open(1);
  act(() => first.result.current.setContent({ ...saved, text: "Oboe!" }));
  expect(readKept("home", "post")?.revision).toBe(1);
  act(() => first.result.current.setContent(saved));
  expect(readKept("home", "post")).toBeNull();
  first.unmount();
  const second = open(5);
  expect(second.result.current.content.text).toBe("Oboe");
  act(() => second.result.current.setContent({ ...saved, text: "Horn" }));
  expect(readKept("home", "post")?.revision).toBe(5);
});

it("forgets text that was found and then taken back", () => {
  const first = open(1);
  act(() => first.result.current.setContent({ ...saved, text: "Oboe!" }));
  first.unmount();
  const second = open(3);
  expect(second.result.current.found?.revision).toBe(1);
  act(() => second.result.current.setContent(saved));
  expect(second.result.current.found).toBeNull();
  act(() => second.result.current.setContent({ ...saved, text: "Horn" }));
  expect(readKept("home", "post")?.revision).toBe(3);
});
