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
import { t } from "../../messages/activity";

type Delivery = Schemas["Delivery"];

export function Mend({ delivery }: { delivery: Delivery }) {
  const editor = useMay("editor");
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, delivery_id: delivery.id } };
  const named = useNamed();
  const warn = (message: string) => (answer: Delivery) =>
    named(delivery.account_id, answer.warning === null || answer.warning === undefined ? message : `${message} ${answer.warning}`);
  const retry = useAct("delivery", () => take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/retry", { params })), {
    done: warn(t("tryingAgain")),
  });
  const now = useAct("delivery", () => take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/publish-now", { params })), {
    done: warn(t("publishingNow")),
  });
  const cancel = useAct(
    "delivery",
    (reason: string) =>
      take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/cancel", { params, body: { reason: reason === "" ? t("canceledByAMember") : reason } })),
    { done: warn(t("canceledItWontBeSent")) },
  );
  const decide = useAct(
    "delivery",
    // The fence comes from the click: what is on the screen by now may be another try.
    (seen: { is_there: boolean; fence: number }) =>
      take(api.POST("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/decide", { params, body: { ...seen, rest: true } })),
    { done: (answer) => named(delivery.account_id, answer.state === "sent" ? t("markedAsPublished") : t("sendingAgain")) },
  );
  if (!editor) return null;
  const { state, fence, unconfirmed_part } = delivery;
  const part = typeof unconfirmed_part === "number" ? unconfirmed_part : 0;
  const askCancel = async () => {
    const reason = await askFor({
      title: t("dontSendThisPost"),
      message: t("itWontBeSentFromThis"),
      label: t("reasonOptional"),
      yes: t("dontSend"),
      danger: true,
      optional: true,
    });
    if (reason !== null) cancel.mutate(reason);
  };
  const askAgain = async () => {
    const message = t("checkTheAccountFirstIfIt");
    if (await askFirst({ title: t("sendAgainTitle", { part }), message, yes: t("sendAgain"), danger: true })) decide.mutate({ is_there: false, fence });
  };
  const askNow = async () => {
    const message = t("itsPublishedOnChannelRightAway", { channel: channelName(delivery.channel) });
    if (await askFirst({ title: t("publishNowQuestion"), message, yes: t("publishNow") })) now.mutate();
  };
  return (
    <Group gap="xs" id={MEND}>
      {(state === "failed" || state === "missed") && (
        <Button size="compact-md" loading={retry.isPending} onClick={() => retry.mutate()}>
          {t("tryAgain")}
        </Button>
      )}
      {state === "unconfirmed" && (
        <>
          <Button size="compact-md" loading={decide.isPending} onClick={() => decide.mutate({ is_there: true, fence })}>
            {t("wasPublished", { part })}
          </Button>
          <Button size="compact-md" variant="default" onClick={() => void askAgain()}>
            {t("wasNotPublished", { part })}
          </Button>
        </>
      )}
      {state === "scheduled" && (
        <Button size="compact-md" variant="default" loading={now.isPending} onClick={() => void askNow()}>
          {t("publishNow")}
        </Button>
      )}
      {(state === "scheduled" || state === "draft") && (
        <Button size="compact-md" variant="subtle" color="red" loading={cancel.isPending} onClick={() => void askCancel()}>
          {t("dontSend")}
        </Button>
      )}
    </Group>
  );
}
