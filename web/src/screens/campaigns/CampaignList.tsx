import { Badge, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { IconPlus, IconSpeakerphone } from "@tabler/icons-react";
import { Link } from "react-router";

import { useAudiences } from "../../api/audiences";
import { api, take } from "../../api/client";
import { useMay, useWorkspace, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { Paged, usePages } from "../../ui/Paged";
import { StateBadge } from "../../ui/StateBadge";
import { momentThere } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { OutcomeBar } from "./Outcomes";
import { whileMoving, type Campaign } from "./useCampaign";
import { finishWords, progressWords } from "./words";
import { t } from "../../messages/campaigns";

export function CampaignList() {
  const workspace_id = useWorkspaceId();
  const editor = useMay("editor");
  const campaigns = usePages<Campaign, string>(
    [workspace_id, "campaigns"],
    (cursor) => take(api.GET("/api/v1/workspaces/{workspace_id}/campaigns", { params: { path: { workspace_id }, query: { cursor } } })),
    { refetchInterval: (rows) => whileMoving(rows) },
  );
  const add = editor && (
    <Button component={Link} to={`/w/${workspace_id}/campaigns/new`} leftSection={<IconPlus size={16} aria-hidden />}>
      {t("newCampaign")}
    </Button>
  );
  return (
    <Page title={t("campaigns")} message={t("oneMessageToManyPeople")} actions={add}>
      <Paged
        pages={campaigns}
        empty={
          <Empty icon={IconSpeakerphone} title={t("noCampaignsYet")}>
            {t("aCampaignSendsOneMessage")}
          </Empty>
        }
      >
        {(rows) => (
          <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
            {rows.map((each) => (
              <li key={each.id}>
                <CampaignCard campaign={each} />
              </li>
            ))}
          </Stack>
        )}
      </Paged>
    </Page>
  );
}

function CampaignCard({ campaign }: { campaign: Campaign }) {
  const workspace_id = useWorkspaceId();
  const zone = useWorkspace().data?.zone ?? "UTC";
  const now = useNow();
  const audience = useAudiences().data?.find(({ id }) => id === campaign.audience_id);
  const { progress } = campaign;
  const when =
    campaign.state === "scheduled" && campaign.start_at !== null
      ? t("startsAt", { time: momentThere(campaign.start_at, zone) })
      : campaign.ended_at !== null
        ? t("endedAt", { time: momentThere(campaign.ended_at, zone) })
        : finishWords(progress.finish_at, zone, now);
  return (
    <Paper withBorder p="sm" component={Link} to={`/w/${workspace_id}/campaigns/${campaign.id}`} display="block" c="inherit" td="none">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Group gap="sm" wrap="nowrap" miw={0} align="flex-start">
          <NetworkIcon of={campaign.channel} size={20} />
          <div style={{ minWidth: 0 }}>
            <Text fw={650}>{campaign.name}</Text>
            <Text size="sm" c="dimmed">
              {audience === undefined ? t("aDeletedAudience") : t("audienceSize", { name: audience.name, size: audience.size })}
              {when !== null && ` · ${when}`}
            </Text>
          </div>
        </Group>
        <Group gap={6} justify="flex-end">
          {campaign.mode === "test" && <TestBadge />}
          <StateBadge state={campaign.state} />
        </Group>
      </Group>
      {progress.total > 0 && (
        <Stack gap={4} mt="xs">
          <OutcomeBar progress={progress} size="sm" />
          <Text size="xs" c="dimmed">
            {progressWords(progress)}
          </Text>
        </Stack>
      )}
    </Paper>
  );
}

/** Nothing of it reaches anybody. */
export function TestBadge() {
  return (
    <Badge variant="outline" color="grape" fw={600} style={{ flex: "none" }}>
      {t("testRun")}
    </Badge>
  );
}
