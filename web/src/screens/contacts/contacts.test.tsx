import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";

import { refuse, serve, writes } from "../../test/server";
import { HOME, show } from "../../test/stage";
import { filterWords, subjectsWith } from "./conditions";
import { typed } from "./ContactForm";
import Contacts from "./Contacts";
import { historyOf } from "./history";
import type { Contact } from "./useContacts";
import type { ContactImport } from "./useImports";
import { t } from "../../messages/contacts";

const person = (id: string, more: Partial<Contact> = {}): Contact =>
  ({ id, name: id, first_name: id, last_name: "", company: "", country: null, zone: null, zone_guessed: true, consent: "unknown", consent_at: null, consent_proof: null, source: "", fields: {}, addresses: [{ channel: "email", address: `${id}@example.org`, written: `${id}@example.org`, flag: null }], tags: [], revision: 3, ...more }) as Contact;

const upload = (more: Partial<ContactImport> = {}): ContactImport =>
  ({ id: "file", kind: "contacts", name: "people.csv", format: "csv", state: "uploaded", reason: null, percent: 0, header: ["Wohin", "Firma"], samples: [["ben@example.org", "Acme"]], suggested: { Wohin: "", Firma: "company" }, mapping: null, read_rows: 0, created: 0, updated: 0, unchanged: 0, refused: 0, flagged: 0, reported: 0, removed: 0, restored: 0, kept: 0, asked_at: "2026-11-18T09:00:00Z", finished_at: null, undo_until: null, ...more }) as ContactImport;

function server(answers: Record<string, unknown>) {
  serve(({ method, url }) => {
    const path = new URL(url).pathname.replace(`/api/v1/workspaces/${HOME}`, "");
    const found = answers[`${method} ${path}`] ?? answers[path];
    if (found !== undefined) return typeof found === "function" ? (found as () => unknown)() : found;
    if (["/audiences", "/contact-fields", "/contact-imports", "/contact-exports"].includes(path)) return [];
    return refuse(404, "not_found", `Nobody answers ${path}.`);
  });
}

it("reads on as one scrolls near the end, and draws only what is in sight", async () => {
  const page = (from: number) => ({ items: Array.from({ length: 200 }, (_, at) => person(`guest${from + at}`)), next: from === 0 ? "more" : null });
  serve(({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith("/count")) return { count: 400 };
    return pathname.endsWith("/contacts") ? page(searchParams.has("cursor") ? 200 : 0) : [];
  });
  show(<Contacts />, { at: `/w/${HOME}/contacts/list` });
  expect(await screen.findByText("400 contacts")).toBeTruthy();
  const list = screen.getByRole("list", { name: t("contacts") });
  expect(list.style.height).toBe(`${200 * 60}px`);
  expect(within(list).getAllByRole("listitem").length).toBeLessThan(40);
  const place = screen.getByRole("group", { name: t("contacts") });
  place.scrollTop = 190 * 60;
  place.dispatchEvent(new Event("scroll", { bubbles: true }));
  await waitFor(() => expect(list.style.height).toBe(`${400 * 60}px`));
  expect(within(list).queryByText("guest0")).toBeNull();
});

it("erases nobody before a question", async () => {
  server({ "/contacts/ben": person("Ben"), "/contacts/ben/data": { sent: [], received: [], audiences: [], suppressions: [] }, "/contacts/ben/notes": [] });
  show(<Contacts />, { at: `/w/${HOME}/contacts/person/ben` });
  await userEvent.click(await screen.findByRole("button", { name: t("more") }));
  await userEvent.click(await screen.findByRole("menuitem", { name: t("eraseDots") }));
  await screen.findByRole("dialog", { name: "Erase everything about Ben?" });
  expect(await writes()).toEqual([]);
});

it("imports a file only after every row was tried with these very choices", async () => {
  let now = upload();
  server({
    "/contact-imports/file": () => now,
    "/contact-imports/file/rows": { items: [{ row: 3, verdict: "refused", code: "bad_address", message: "This is no address.", column: "Wohin", value: "x", contact_id: null }], next: null },
    "POST /contact-imports/file/try": () => (now = upload({ state: "tried", mapping: { Wohin: "email", Firma: "company" }, created: 41, refused: 1, reported: 1, percent: 100 })),
    "POST /contact-imports/file/start": () => (now = upload({ state: "running", percent: 10 })),
  });
  show(<Contacts />, { at: `/w/${HOME}/contacts/import?import=file` });
  await userEvent.click(await screen.findByRole("combobox", { name: "Wohin becomes" }));
  await userEvent.click(await screen.findByRole("option", { name: "Email" }));
  await userEvent.click(screen.getByRole("button", { name: t("checkEveryRow") }));
  expect(await screen.findByText(/Wohin: x: This is no address\./)).toBeTruthy();
  await userEvent.type(screen.getByLabelText(t("tagEverybody")), "fair{Enter}");
  expect(screen.queryByRole("button", { name: "Import 41 contacts" })).toBeNull(); // it was tried without the tag
  await userEvent.click(screen.getByRole("button", { name: t("checkEveryRow") }));
  await userEvent.click(await screen.findByRole("button", { name: "Import 41 contacts" }));
  await screen.findByRole("button", { name: t("stopImporting") });
  expect((await writes()).at(-1)?.body).toMatchObject({ mapping: { Wohin: "email", Firma: "company" }, tags: ["fair"], existing: "update" });
}, 30_000);

it("tells a person's story newest first, both ways", () => {
  const { events } = historyOf({
    sent: [{ id: "d", channel: "email", state: "sent", due_at: "2026-11-01T09:00:00Z", sent_at: "2026-11-02T09:00:00Z", content: { subject: "Bread", text: "Hello" } }],
    received: [{ kind: "reply", channel: "email", subject: "Re: Bread", text: "Yes", diagnostic: "", happened_at: "2026-11-03T09:00:00Z" }],
    audiences: [{ name: "Regulars" }],
    suppressions: [],
  } as never);
  expect(events.map(({ kind, text }) => `${kind}: ${text}`)).toEqual(["received: Re: Bread\nYes", "sent: Bread\nHello"]);
});

it("says a filter in words, and types fields as they are kept", () => {
  const all = subjectsWith([{ key: "age", label: "Age", kind: "number" }]);
  expect(filterWords([{ what: "tag", op: "is", value: "customer" }, { what: "fields.age", op: "at_least", value: 18 }, { what: "company", op: "set" }], all)).toBe("Tag is customer and Age is at least 18 and Company is known");
  expect(typed({ age: "18", city: "", name: "Ben" }, [{ key: "age", kind: "number" }])).toEqual({ age: 18, city: null, name: "Ben" });
});
