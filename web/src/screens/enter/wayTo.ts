// Where a link of a mail leads: mails name a delivery or an account, not the workspace that it is in.
import { api, take } from "../../api/client";
import type { Me } from "../../api/me";
import { Problem } from "../../api/problem";

/** Return the address of a screen in the workspace that holds the thing; the front door, if none does. */
export async function wayTo(me: Me, link: string, id: string): Promise<string> {
  for (const { workspace_id } of me.workspaces) {
    if (link === "/settings/notices") return `/w/${workspace_id}/settings/notices`;
    if (link.startsWith("/deliveries/") && (await isThere(find.delivery(workspace_id, id)))) {
      return `/w/${workspace_id}/activity/${id}`;
    }
    if (link.startsWith("/accounts/") && (await isThere(find.account(workspace_id, id)))) {
      return `/w/${workspace_id}/${link.endsWith("queue") ? "queue" : "accounts"}?account=${id}`;
    }
  }
  return "/";
}

const find = {
  delivery: (workspace_id: string, delivery_id: string) =>
    take(api.GET("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}", { params: { path: { workspace_id, delivery_id } } })),
  account: (workspace_id: string, account_id: string) =>
    take(api.GET("/api/v1/workspaces/{workspace_id}/accounts/{account_id}", { params: { path: { workspace_id, account_id } } })),
};

async function isThere(asked: Promise<unknown>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    if (error instanceof Problem && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}
