// Paced messages to people one by one: who is in it, which steps, by whom, and when the planner sends them.
import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { IconPlus, IconRoute } from "@tabler/icons-react";
import { Link, useParams } from "react-router";

import { useMay, useWorkspaceId } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Page } from "../../ui/Page";
import { StateBadge } from "../../ui/StateBadge";
import { channelName } from "../../ui/words";
import { SequenceForm } from "./SequenceForm";
import { SequencePage } from "./SequencePage";
import { useSequences, type Sequence } from "./useSequence";
import { t } from "../../messages/sequences";

export default function Sequences() {
  const { "*": path = "" } = useParams();
  if (path === "") return <SequenceList />;
  if (path === "new") return <SequenceForm key="new" sequence={null} />;
  return <SequencePage key={path} path={path} />;
}

function SequenceList() {
  const workspaceId = useWorkspaceId();
  const editor = useMay("editor");
  return (
    <Page
      title={t("sequences")}
      message={t("pacedMessages")}
      actions={
        editor && (
          <Button component={Link} to={`/w/${workspaceId}/sequences/new`} leftSection={<IconPlus size={16} aria-hidden />}>
            {t("newSequence")}
          </Button>
        )
      }
    >
      <Fetched query={useSequences()}>
        {(found) =>
          found.length === 0 ? (
            <Empty icon={IconRoute} title={t("noSequencesYet")}>
              {t("aSequenceWritesStepByStep")}
            </Empty>
          ) : (
            <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
              {found.map((each) => (
                <li key={each.id}>
                  <SequenceCard sequence={each} />
                </li>
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Page>
  );
}

function SequenceCard({ sequence }: { sequence: Sequence }) {
  const workspaceId = useWorkspaceId();
  const channels = [...new Set(sequence.steps.map(({ channel }) => channelName(channel)))];
  return (
    <Paper withBorder p="sm" component={Link} to={`/w/${workspaceId}/sequences/${sequence.id}`} display="block" c="inherit" td="none">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Text fw={650}>{sequence.name}</Text>
          <Text size="sm" c="dimmed">
            {t("stepsByAccounts", { steps: sequence.steps.length, accounts: sequence.account_ids.length })}
            {channels.length > 0 && ` · ${channels.join(", ")}`}
          </Text>
        </div>
        <StateBadge state={sequence.state} />
      </Group>
    </Paper>
  );
}
