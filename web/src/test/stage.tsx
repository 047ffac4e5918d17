// Puts a part of the app on a stage: the providers of main.tsx, Ada signed in, an address.
import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import { useState, type ReactElement, type ReactNode } from "react";
import { createMemoryRouter, RouterProvider } from "react-router";

import type { Account } from "../api/accounts";
import type { Me } from "../api/me";
import { theme } from "../app/theme";
import { Toasts } from "../app/Toasts";

export const HOME = "home-of-ada";

export const ada: Me = {
  dry_run: false,
  id: "ada",
  email: "ada@example.org",
  name: "Ada",
  zone: "Europe/Berlin",
  week_start: 1,
  instance_owner: false,
  second_factor: false,
  sending_held: null,
  workspaces: [{ workspace_id: HOME, name: "Home", role: "owner" } as Me["workspaces"][number]],
};

export const account = (id: string, more: Partial<Account> = {}): Account =>
  ({ id, provider: id, handle: `@${id}`, name: null, kind: null, state: "connected", state_reason: null, zone: "Europe/Berlin", hours: {}, usual_hours: {}, lane: null, created_at: "2026-10-01T00:00:00Z", token_expires_at: null, ...more }) as Account;

export function freshQueries(): QueryClient {
  const queries = new QueryClient({ defaultOptions: { queries: { networkMode: "always", staleTime: 10_000, retry: false }, mutations: { networkMode: "always" } } });
  queries.setQueryData(["me"], ada);
  return queries;
}

function Frame({ queries, at, children }: { queries: QueryClient; at: string; children: ReactNode }) {
  const [router] = useState(() =>
    createMemoryRouter(
      [
        { path: "/w/:workspaceId/:screen/*", element: children },
        { path: "*", element: <p>Elsewhere</p> },
      ],
      { initialEntries: [at] },
    ),
  );
  return (
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={queries}>
        <ModalsProvider>
          <Toasts />
          <RouterProvider router={router} />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  );
}

interface Where {
  at?: string;
  queries?: QueryClient;
}

/** Show something at an address of the workspace. */
export function show(ui: ReactElement, { at = `/w/${HOME}/queue`, queries = freshQueries() }: Where = {}) {
  notifications.clean();
  return { queries, ...render(<Frame queries={queries} at={at}>{ui}</Frame>) };
}

/** Use a hook at an address of the workspace. */
export function use<Result>(hook: () => Result, { at = `/w/${HOME}/queue`, queries = freshQueries() }: Where = {}) {
  notifications.clean();
  let shown: { result: Result } | undefined;
  function Holder() {
    shown = { result: hook() };
    return null;
  }
  const rendered = render(
    <Frame queries={queries} at={at}>
      <Holder />
    </Frame>,
  );
  return {
    queries,
    ...rendered,
    get now(): Result {
      if (shown === undefined) throw new Error("the hook was not called yet");
      return shown.result;
    },
  };
}
