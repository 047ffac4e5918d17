// The one button that says what it will do, and the other ways beside it.
import { Alert, Button, Group, List, Menu, Paper, Select, Stack, Text } from "@mantine/core";
import { DateTimePicker } from "@mantine/dates";
import { IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { useMe, useWorkspaceId } from "../../api/me";
import { Problem } from "../../api/problem";
import { askFirst } from "../../ui/ask";
import { localInstant } from "../../ui/localInstant";
import { fromNow } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { channelName } from "../../ui/words";
import { contentOf, empty, isEmpty, type Content, type Post } from "./content";
import { useApproval, useNextSlots, type Preview } from "./foresee";
import { approve, carryOut, type Done, type Way } from "./carryOut";
import { labelOf, placeTime } from "./labels";

interface Props {
  accounts: Account[];
  content: Content;
  changed: boolean;
  previews: Preview[];
  saved: { post: Post; revision: number } | null;
  onSaved: (content: Content, revision: number | null) => void;
  onConflict: (theirs: Post) => void;
}

export function Send(props: Props) {
  const { content, saved, changed } = props;
  const workspaceId = useWorkspaceId();
  const go = useNavigate();
  const me = useMe();
  const now = useNow();
  const [search] = useSearchParams();
  const asked = search.get("at");
  const zones = zonesOf(props.accounts, content, me.zone);
  const [way, setWay] = useState<Way>(() => firstWay(saved?.post ?? null, asked));
  const [wall, setWall] = useState<string | null>(null);
  const [zone, setZone] = useState<string | null>(null);
  const slots = useNextSlots(content.places);
  const approval = useApproval(content, saved === null ? null : { id: saved.post.id, revision: saved.revision });
  const inZone = zone ?? zones[0] ?? me.zone;
  const at = way === "slot" ? asked : way === "time" && wall !== null ? localInstant(wall.slice(0, 16).replace(" ", "T"), inZone).toISOString() : null;
  const run = useAct(
    (by: Way) =>
      carryOut({ workspaceId, way: by, content, changed, saved, at, wall: wall?.slice(0, 16).replace(" ", "T") ?? null, zone: inZone, approved: approval.data?.approved ?? false }),
    {
      done: ({ says }) => says,
      after: ({ post, finished }: Done) => {
        if (saved !== null) props.onSaved(contentOf(post), post.revision);
        else {
          props.onSaved({ ...empty, places: content.places }, null);
          if (!finished) return go(`/w/${workspaceId}/compose/${post.id}`);
        }
      },
      refused: (error) => {
        if (error instanceof Problem && error.code === "changed_meanwhile" && error.body.current !== undefined) {
          props.onConflict(error.body.current as Post);
          return true;
        }
      },
    },
  );
  const approveIt = useAct(() => approve(workspaceId, saved?.post.id ?? "", saved?.revision ?? 0), {
    done: ({ scheduled }) => (scheduled.length === 0 ? "Approved." : "Approved: what was planned goes out."),
  });
  const press = async () => {
    if (way === "now") {
      const where = props.previews.map((each) => `${channelName(each.channel)} (${each.handle})`).join(", ");
      if (!(await askFirst({ title: "Publish now?", says: `It goes out at once: ${where}.`, yes: "Publish now" }))) return;
    }
    run.mutate(way);
  };
  const nowhere = content.places.length === 0 && way !== "draft" && way !== "save";
  const idle = isEmpty(content) || nowhere || (way === "time" && wall === null) || (way === "save" && !changed);
  const label = labelOf({ way, slots, at, zone: way === "slot" ? (slots?.[0]?.zone ?? inZone) : inZone, approved: approval.data?.approved ?? true, previews: props.previews, post: saved?.post ?? null });
  const waits = approval.data !== undefined && !approval.data.approved && !isEmpty(content) && way !== "now";
  return (
    <Paper withBorder p="md" component="section" aria-label="When it goes out" style={{ position: "sticky", bottom: 0, zIndex: 5 }}>
      <Stack gap="xs">
        {way === "time" && (
          <Group align="flex-end" gap="xs">
            <DateTimePicker label="When" placeholder="Day and time" miw={200} minDate={now} value={wall} onChange={setWall} valueFormat="ddd D MMM YYYY, HH:mm" />
            <Select label="On the clock of" allowDeselect={false} data={zones} value={inZone} onChange={setZone} />
          </Group>
        )}
        {way === "queue" && slots !== undefined && slots.length > 0 && (
          <List size="sm" aria-label="Next free slots">
            {slots.map((each) => (
              <List.Item key={each.account_id}>
                {props.accounts.find(({ id }) => id === each.account_id)?.handle ?? each.account_id}:{" "}
                {each.at === null ? (each.says ?? "no free slot") : `${placeTime(each.at, each.zone)} (${fromNow(each.at, now)})`}
              </List.Item>
            ))}
          </List>
        )}
        {waits && (
          <Alert color="yellow" p="xs" role="status">
            It waits for approval before it goes out{approval.data?.why === null ? "." : `: ${approval.data?.why}.`}
          </Alert>
        )}
        {approval.error instanceof Problem && approval.error.code === "changed_meanwhile" && (
          <Alert color="yellow" p="xs" role="status">
            Somebody else changed this post meanwhile. You see both versions when you save.
          </Alert>
        )}
        <Group gap="xs" justify="space-between">
          <Text size="sm" c="dimmed">
            {changed ? "Not saved; kept in this browser." : saved === null ? "" : "Saved."}
          </Text>
          <Group gap="xs">
            {saved !== null && !saved.post.approved && !changed && (
              <Button variant="default" loading={approveIt.isPending} onClick={() => approveIt.mutate()}>
                Approve
              </Button>
            )}
            <Button.Group maw="100%">
              <Button
                h="auto"
                mih={36}
                py={6}
                styles={{ root: { minWidth: 0 }, label: { whiteSpace: "normal" } }}
                disabled={idle} loading={run.isPending} onClick={() => void press()}>
                {label}
              </Button>
              <OtherWays way={way} saved={saved !== null} slot={asked !== null} onChoose={setWay} />
            </Button.Group>
          </Group>
        </Group>
      </Stack>
    </Paper>
  );
}

function OtherWays(props: { way: Way; saved: boolean; slot: boolean; onChoose: (way: Way) => void }) {
  const ways: [Way, string][] = [
    ...(props.slot ? ([["slot", "In the slot that you chose"]] as [Way, string][]) : []),
    ["queue", "Add to the queue"],
    ["time", "At a time…"],
    ["now", "Publish now"],
    props.saved ? ["save", "Save only"] : ["draft", "Save as a draft"],
  ];
  return (
    <Menu position="top-end">
      <Menu.Target>
        <Button px={8} h="auto" mih={36} aria-label="Other ways" style={{ flex: "none", borderInlineStart: "1px solid rgba(255,255,255,.4)" }}>
          <IconChevronDown size={18} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {ways
          .filter(([way]) => way !== props.way)
          .map(([way, name]) => (
            <Menu.Item key={way} onClick={() => props.onChoose(way)}>
              {name}
            </Menu.Item>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function firstWay(post: Post | null, at: string | null): Way {
  if (post !== null) return post.pills.some(({ state }) => state !== "canceled") ? "save" : "queue";
  return at === null ? "queue" : "slot";
}

function zonesOf(accounts: Account[], content: Content, own: string): string[] {
  const chosen = content.places.map((place) => accounts.find(({ id }) => id === place.account_id)?.zone);
  return [...new Set([...chosen.filter((each) => each !== undefined), own])];
}
