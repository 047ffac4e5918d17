// What wants a person: each thing with what is wrong and the one thing to do, many at once where they are alike.
import { ActionIcon, Button, Checkbox, Group, Menu, Stack, Text } from "@mantine/core";
import { IconDots, IconMoodCheck } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { Link } from "react-router";

import { useAct } from "../../api/act";
import { useMay, useMe, useWorkspaceId } from "../../api/me";
import { askFirst } from "../../ui/ask";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { Section } from "../../ui/Section";
import { tellProblem } from "../../ui/tell";
import { ago, fromNow, momentThere, onClock } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { ResumeAccount } from "../queue/ResumeAccount";
import { commonStep, elsewhere, fencesOf, folded, kinds, sentence, steps, wordOf } from "./steps";
import { takeSteps } from "./takeSteps";
import { useThings, type Step, type Thing } from "./useThings";
import { t } from "../../messages/attention";

export default function Attention() {
  const things = useThings();
  return (
    <Page title={t("needsAttention")} message={t("problemsAndHowToFixThem")}>
      <Fetched query={things}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={IconMoodCheck} title={t("allGood")}>
              {t("youreAllCaughtUpPostsThat")}
            </Empty>
          ) : (
            <Stack>
              {[...new Set(rows.map(({ kind }) => kind))].map((kind) => (
                <Kind key={kind} kind={kind} things={rows.filter((each) => each.kind === kind)} />
              ))}
            </Stack>
          )
        }
      </Fetched>
    </Page>
  );
}

function useStep() {
  const workspace_id = useWorkspaceId();
  return useAct(
    ({ step }) => (step === "start_workspace" ? "workspace" : "delivery"),
    ({ step, things }: { step: Step; things: Thing[] }) =>
      takeSteps(workspace_id, { step, subjects: things.map((each) => each.subject_id), fences: fencesOf(things), choice: "shift" }),
    {
      done: (answers, { step }) => {
        const done = answers.filter((each) => each.outcome === "done").length;
        const refused = answers.filter((each) => each.outcome !== "done");
        if (refused.length > 0) tellProblem(new Error([...new Set(refused.map((each) => each.message))].join(" ")), t("werentChanged", { refused: refused.length }));
        const told = answers.length === 1 && done === 1 ? `${steps[step].done}.` : t("doneDone2OfAnswers", { done: steps[step].done, done2: done, answers: answers.length });
        const warned = answers.flatMap(({ outcome, message }) => (outcome === "done" && message ? [message] : []));
        return [told, ...new Set(warned)].join(" ");
      },
    },
  );
}

function Kind({ kind, things }: { kind: Thing["kind"]; things: Thing[] }) {
  const editor = useMay("editor");
  const [chosen, setChosen] = useState<string[]>([]);
  const act = useStep();
  const [resuming, setResuming] = useState<string | null>(null);
  // A queue is resumed by its own dialog: what came due meanwhile is a person's choice.
  const begin = async (step: Step, some: Thing[], done?: () => void) => {
    const accountId = some[0]?.pill?.account_id;
    if (step === "resume" && accountId !== undefined) setResuming(accountId);
    else if (await isMeant(step, some.length)) act.mutate({ step, things: some }, { onSuccess: done });
  };
  const [unfolded, setUnfolded] = useState<string[]>([]);
  const lines = folded(things).flatMap((alike) => {
    const isOpen = alike.some(({ subject_id }) => unfolded.includes(subject_id));
    return isOpen ? alike.map((thing) => ({ thing, others: 0 })) : alike.slice(0, 1).map((thing) => ({ thing, others: alike.length - 1 }));
  });
  const picked = things.filter(({ subject_id }) => chosen.includes(subject_id));
  const isBulk = things.some((each) => commonStep([each]) !== null); // else there is nothing to choose them for
  const alike = picked.length > 0 ? picked : things;
  const step = commonStep(alike);
  const bulk = editor && things.length > 1 && step !== null && (
    <Button
      size="compact-sm"
      variant="default"
      loading={act.isPending}
      onClick={() => void begin(step, alike, () => setChosen([]))}
    >
      {steps[step].name}: {picked.length > 0 ? t("pickedSelected", { picked: picked.length }) : t("allThings", { things: things.length })}
    </Button>
  );
  return (
    <Section title={`${kinds[kind].name} (${things.length})`} message={kinds[kind].message} actions={bulk}>
      <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: "none" }}>
        {lines.map(({ thing, others }) => (
          <li key={thing.subject_id}>
            <Row
              thing={thing}
              onStep={(next) => void begin(next, [thing])}
              others={others}
              onUnfold={() => setUnfolded([...unfolded, thing.subject_id])}
              choice={
                editor && things.length > 1 && isBulk ? (
                  <Checkbox
                    aria-label={t("selectTitle", { title: labelOf(thing) })}
                    checked={chosen.includes(thing.subject_id)}
                    onChange={(event) =>
                      setChosen(event.currentTarget.checked ? [...chosen, thing.subject_id] : chosen.filter((each) => each !== thing.subject_id))
                    }
                  />
                ) : null
              }
            />
          </li>
        ))}
      </Stack>
      {resuming !== null && <ResumeAccount accountId={resuming} onClose={() => setResuming(null)} />}
    </Section>
  );
}

/** Ask before what cannot be taken back. */
async function isMeant(step: Step, many: number): Promise<boolean> {
  const { ask, danger, name } = steps[step];
  const message = danger ?? ask;
  if (message === undefined) return true;
  return askFirst({ title: many === 1 ? `${name}?` : t("namePosts", { name, many }), message, yes: name, danger: danger !== undefined });
}

interface RowProps {
  thing: Thing;
  onStep: (step: Step) => void;
  choice: ReactNode;
  /** How many more look just like it. */
  others: number;
  onUnfold: () => void;
}

function Row({ thing, onStep, choice, others: alike, onUnfold }: RowProps) {
  const workspaceId = useWorkspaceId();
  const me = useMe();
  const now = useNow();
  const editor = useMay("editor");
  const zone = thing.pill?.zone ?? me.zone;
  const [first, ...others] = thing.steps;
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm">
      {choice}
      {thing.pill !== null && <NetworkIcon of={thing.pill.provider} />}
      <div style={{ flex: 1, minWidth: 0 }}>
        {thing.words !== null && thing.words !== undefined && thing.words !== "" && (
          <Text size="sm" fw={600} truncate>
            {thing.words}
          </Text>
        )}
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {onClock(sentence(thing), zone)}
        </Text>
        <Text size="xs" c="dimmed">
          {isAhead(thing) ? t("due", { time: momentThere(thing.at, zone), when: fromNow(thing.at, now) }) : t("happened", { time: momentThere(thing.at, zone), when: ago(thing.at, now) })}
        </Text>
        <Group gap="xs" mt={6}>
          {editor && first !== undefined && <StepButton thing={thing} step={first} onStep={onStep} />}
          {thing.pill !== null && (
            <Button size="compact-sm" variant="subtle" component={Link} to={`/w/${workspaceId}/activity/${thing.pill.delivery_id}`} aria-label={t("whyTitle", { title: labelOf(thing) })}>
              {t("why")}
            </Button>
          )}
          {alike > 0 && (
            <Button size="compact-sm" variant="subtle" onClick={onUnfold} aria-label={t("showAlikeMoreLikeThisTitle", { alike, title: labelOf(thing) })}>
              {t("showAlikeMoreLikeThis", { alike })}
            </Button>
          )}
          {editor && others.length > 0 && (
            <Menu>
              <Menu.Target>
                <ActionIcon variant="subtle" color="gray" aria-label={t("moreActionsTitle", { title: labelOf(thing) })}>
                  <IconDots size={16} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                {others.map((step) => (
                  <StepItem key={step} thing={thing} step={step} onStep={onStep} />
                ))}
              </Menu.Dropdown>
            </Menu>
          )}
        </Group>
      </div>
    </Group>
  );
}

/** Its time is the one that it is due at, not when something happened. */
const isAhead = ({ kind, at }: Thing): boolean => (kind === "unapproved" || kind === "blocked") && new Date(at).getTime() > Date.now();

/** What a thing is called where only its name is heard. */
function labelOf(thing: Thing): string {
  const words = thing.words ?? "";
  return words === "" ? sentence(thing) : `${words}: ${sentence(thing)}`;
}

interface StepProps {
  thing: Thing;
  step: Step;
  onStep: (step: Step) => void;
}

function StepButton(props: StepProps) {
  const to = elsewhere(props.thing, props.step, useWorkspaceId());
  const name = wordOf(props.thing, props.step);
  const label = `${name}: ${labelOf(props.thing)}`;
  if (to !== null) {
    return (
      <Button size="compact-sm" variant="light" component={Link} to={to} aria-label={label}>
        {name}
      </Button>
    );
  }
  return (
    <Button size="compact-sm" variant="light" onClick={() => props.onStep(props.step)} aria-label={label}>
      {name}
    </Button>
  );
}

function StepItem(props: StepProps) {
  const to = elsewhere(props.thing, props.step, useWorkspaceId());
  const { name, danger } = steps[props.step];
  if (to !== null) {
    return (
      <Menu.Item component={Link} to={to}>
        {name}
      </Menu.Item>
    );
  }
  return (
    <Menu.Item color={danger === undefined ? undefined : "red"} onClick={() => props.onStep(props.step)}>
      {name}
    </Menu.Item>
  );
}

