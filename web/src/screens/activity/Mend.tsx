// What a person may do about one delivery, by its state.
import { Button, Group } from "@mantine/core";

import { useNamed } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { askFor } from "../../ui/askFor";
import { channelName } from "../../ui/words";
import { MEND } from "./Fix";

type Delivery = Schemas["Delivery"];

export function Mend({ delivery }: { delivery: Delivery }) {
  const editor = useMay("editor");
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, delivery_id: delivery.id } };
  const named = useNamed();
  const warn = (says: string) => (answer: Delivery) =>
    named(delivery.account_id, answer.warning === null || answer.warning === undefined ? says : `${says} ${answer.warning}`);
  const retry = useAct("delivery", () => take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/retry", { params })), {
    done: warn("It is tried again."),
  });
  const now = useAct("delivery", () => take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/publish-now", { params })), {
    done: warn("It goes out now."),
  });
  const cancel = useAct(
    "delivery",
    (reason: string) =>
      take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/cancel", { params, body: { reason: reason === "" ? "taken off by hand" : reason } })),
    { done: warn("It will not be sent.") },
  );
  const decide = useAct(
    "delivery",
    // The fence comes from the click: what is on the screen by now may be another try.
    (seen: { is_there: boolean; fence: number }) =>
      take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/decide", { params, body: { ...seen, rest: true } })),
    { done: (answer) => named(delivery.account_id, answer.state === "sent" ? "Marked as published." : "It is sent again.") },
  );
  if (!editor) return null;
  const { state, fence, doubt_part } = delivery;
  const it = typeof doubt_part === "number" ? `Part ${doubt_part}` : "It";
  const askCancel = async () => {
    const reason = await askFor({
      title: "Cancel this post?",
      says: "It is not sent to this account. The post itself stays.",
      label: "Why (may stay empty)",
      yes: "Don't send it",
      danger: true,
      optional: true,
    });
    if (reason !== null) cancel.mutate(reason);
  };
  const askAgain = async () => {
    const says = "Check the account first: if it was published after all, people see it twice.";
    if (await askFirst({ title: `${it} wasn't published: send it again?`, says, yes: "Send it again", danger: true })) decide.mutate({ is_there: false, fence });
  };
  const askNow = async () => {
    const says = `It goes out at once: ${channelName(delivery.channel)}. This cannot be taken back.`;
    if (await askFirst({ title: "Publish now?", says, yes: "Publish now" })) now.mutate();
  };
  return (
    <Group gap="xs" id={MEND}>
      {(state === "failed" || state === "missed") && (
        <Button size="compact-md" loading={retry.isPending} onClick={() => retry.mutate()}>
          Try again
        </Button>
      )}
      {state === "unconfirmed" && (
        <>
          <Button size="compact-md" loading={decide.isPending} onClick={() => decide.mutate({ is_there: true, fence })}>
            {it} was published
          </Button>
          <Button size="compact-md" variant="default" onClick={() => void askAgain()}>
            {it} was not published
          </Button>
        </>
      )}
      {state === "scheduled" && (
        <Button size="compact-md" variant="default" loading={now.isPending} onClick={() => void askNow()}>
          Publish now
        </Button>
      )}
      {(state === "scheduled" || state === "draft") && (
        <Button size="compact-md" variant="subtle" color="red" loading={cancel.isPending} onClick={() => void askCancel()}>
          Do not send it
        </Button>
      )}
    </Group>
  );
}
