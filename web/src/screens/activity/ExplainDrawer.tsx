// Why a delivery goes or does not: the plain sentence, every gate, every call, and the button that mends it.
import { Anchor, Button, Drawer, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { api, take, type Schemas } from "../../api/client";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Section } from "../../ui/Section";
import { StateBadge } from "../../ui/StateBadge";
import { moment, onClock, placeOf } from "../../ui/times";
import { asSentence, channelName, standing } from "../../ui/words";
import { Attempts } from "./Attempts";
import { Gates } from "./Gates";
import { Mend } from "./Mend";
import { Story } from "./Story";
import { t } from "../../messages/activity";

type Delivery = Schemas["Delivery"];

export default function ExplainDrawer({ deliveryId, onClose }: { deliveryId: string | null; onClose: () => void }) {
  return (
    <Drawer opened={deliveryId !== null} onClose={onClose} position="right" size="lg" title={t("details")}>
      {deliveryId !== null && <Explanation id={deliveryId} />}
    </Drawer>
  );
}

function Explanation({ id }: { id: string }) {
  const workspace_id = useWorkspaceId();
  const params = { path: { workspace_id, delivery_id: id } };
  const delivery = useQuery({
    queryKey: [workspace_id, "delivery", id],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}", { params })),
  });
  const explained = useQuery({
    queryKey: [workspace_id, "delivery", id, "explain"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/explain", { params })),
    refetchInterval: 15_000,
  });
  const attempts = useQuery({
    queryKey: [workspace_id, "delivery", id, "attempts"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/attempts", { params })),
  });
  const editor = useMay("editor");
  const me = useMe();
  const accounts = useAccounts();
  const exchanges = useQuery({
    queryKey: [workspace_id, "delivery", id, "exchanges"],
    enabled: editor,
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/deliveries/{delivery_id}/exchanges", { params })),
  });
  return (
    <Fetched query={delivery}>
      {(shown) => {
        const account = accounts.data?.find(({ id: own }) => own === shown.account_id);
        const zone = shown.zone ?? account?.zone ?? me.zone;
        return (
          <Stack>
            <Head delivery={shown} account={account} zone={zone} />
            <Fetched query={explained} rows={2}>
              {({ message, gates, judged_at }) => (
                <>
                  <Text fw={600}>{asSentence(onClock(message, zone))}</Text>
                  <Mend delivery={shown} />
                  {(shown.state === "scheduled" || shown.state === "draft" || shown.state === "missed") && <Gates gates={gates} judgedAt={judged_at} zone={zone} accountId={shown.account_id} />}
                </>
              )}
            </Fetched>
            <Fetched query={attempts} rows={2}>
              {(rows) => <Attempts attempts={rows} exchanges={exchanges.data ?? []} delivery={shown} zone={zone} />}
            </Fetched>
            <Section title={t("content")}>
              <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
                {typeof shown.content.text === "string" && shown.content.text !== "" ? shown.content.text : t("noText")}
              </Text>
              {shown.post_id !== null && (
                <Button w="fit-content" size="compact-sm" variant="default" component={Link} to={`/w/${workspace_id}/compose/${shown.post_id}`}>
                  {t("openPost")}
                </Button>
              )}
            </Section>
            {shown.post_id !== null && <Story postId={shown.post_id} zone={zone} />}
          </Stack>
        );
      }}
    </Fetched>
  );
}

function Head({ delivery, account, zone }: { delivery: Delivery; account: Account | undefined; zone: string }) {
  const me = useMe();
  const called = delivery.state === "unconfirmed" ? delivery.last_attempt_at : null;
  const at = delivery.sent_at ?? delivery.failed_at ?? called ?? delivery.due_at;
  const word = delivery.sent_at !== null ? "sent" : delivery.failed_at !== null ? "failed" : typeof called === "string" ? "tried" : "due";
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap">
      <div>
        <Group gap={6}>
          <NetworkIcon of={account?.provider ?? delivery.channel} />
          <Text fw={600}>{account?.handle ?? delivery.account_id}</Text>
        </Group>
        <Text size="sm" c="dimmed">
          {channelName(delivery.channel)} · {word} {moment(at, zone)} {placeOf(zone)}
          {zone !== me.zone && ` (${moment(at, me.zone)} ${placeOf(me.zone)})`}
        </Text>
        {delivery.url !== null && (
          <Anchor size="sm" href={delivery.url} target="_blank" rel="noreferrer">
            {t("viewPost")}
          </Anchor>
        )}
      </div>
      <div style={{ flex: "none" }}>
        <StateBadge state={standing(delivery)} />
      </div>
    </Group>
  );
}
