"""Every word by which bones and shape keys are known: naming conventions, and what other words say.

Words are in lower case and written one behind the other, separated by blanks. The code that cuts names into words and
draws conclusions from them is in the modules that use these sets; a new convention is one more row of `CONVENTIONS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Words = frozenset[str]


def _words(text: str) -> Words:
    return frozenset(text.split())


@dataclass(frozen=True)
class Convention:
    """How bones are named in one language or by one family of programs."""

    name: str
    example: str
    """Name of the convention."""
    left: str = ""
    right: str = ""
    """`left`, `right`: words for the sides; single letters count only where they stand alone."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Words for parts of the body by the names that `part` knows."""


CONVENTIONS = (
    Convention(
        "English",
        "upper_arm.L",
        left="l left lft",
        right="r right rgt",
        parts={
            "head": "head skull cephalothorax",
            "neck": "neck cervical",
            "chest": "chest thorax ribcage upperchest torso",
            "spine": "spine abdomen back lowerback waist stomach belly lumbar vertebra",
            "hips": "hips hip pelvis",
            "root": "root master ground cog armature world traj trajectory main",
            "shoulder": "shoulder collar clavicle scapula",
            "upper_arm": "arm upperarm uparm shldr",
            "forearm": "forearm lowerarm elbow",
            "hand": "hand wrist",
            "wing": "wing",
            "fin": "fin",
            "digit": "thumb index middle mid ring pinky finger little",
            "buttock": "pelvis buttock",
            "thigh": "thigh upleg upperleg hip femur coxa",
            "shank": "shin calf knee lowerleg tibia",
            "leg": "leg",
            "foot": "foot feet ankle paw hoof tarsus",
            "toe": "toe toes ball toebase",
            "tail": "tail",
            "nose": "nose beak snout muzzle",
            "mouth": "jaw chin mouth tongue teeth tooth lip",
            "eye": "eye eyes eyeball",
            "lid": "lid eyelid lids eyelids",
            "upper_lid": "upper up top t",
            "lower_lid": "lower low bottom down b",
            "ear": "ear ears",
            "face": "face brow lid ear ears cheek forehead temple",
        },
    ),
    Convention("German", "Kopf", parts={"head": "kopf", "neck": "hals"}),
    Convention("Spanish", "Cabeza", parts={"head": "cabeza"}),
    Convention(
        "Japanese",
        "左足",
        left="左",
        right="右",
        parts={
            "head": "頭",
            "neck": "首",
            "chest": "上半身2",
            "spine": "上半身",
            "hips": "腰",
            "root": "センター 親",
            "shoulder": "肩",
            "upper_arm": "腕",
            "forearm": "ひじ",
            "hand": "手首",
            "digit": "指",
            "shank": "ひざ",
            "leg": "足",
            "foot": "足首",
            "toe": "つま先",
            "eye": "目",
            "lid": "瞼 まぶた",
            "upper_lid": "上",
            "lower_lid": "下",
        },
    ),
)


def part(name: str) -> Words:
    """The words of all conventions for a part of the body."""
    return frozenset().union(*(_words(convention.parts.get(name, "")) for convention in CONVENTIONS))


# Sides

LEFT: Words = frozenset().union(*(_words(convention.left) for convention in CONVENTIONS))
RIGHT: Words = frozenset().union(*(_words(convention.right) for convention in CONVENTIONS))

# Parts of the body

HEAD = part("head")
NECK = part("neck")
CHEST = part("chest")
SPINE = part("spine")
HIPS = part("hips")
TORSO = NECK | CHEST | SPINE | HIPS
ROOT = part("root")
SHOULDER = part("shoulder")
FOREARM = part("forearm")
HAND = part("hand")
WING = part("wing")
FIN = part("fin")
ARM = SHOULDER | part("upper_arm") | FOREARM | HAND | WING | FIN
DIGIT = part("digit")
BUTTOCK = part("buttock")
THIGH = part("thigh")
SHANK = part("shank")
FOOT = part("foot")
TOE = part("toe")
LEG = THIGH | SHANK | part("leg") | FOOT | TOE
TAIL = part("tail")
NOSE = part("nose")
MOUTH = part("mouth")
EYE = part("eye")
EAR = part("ear")
FACE = NOSE | MOUTH | EYE | part("face")

FRONT = _words("front fore")
"""Of an animal's legs those that are its arms."""

# Limbs more closely

COLLAR = SHOULDER | {"shldr"}
ELBOW = FOREARM | {"lower"}
PALM = HAND | {"palm"}
UPPER = THIGH | _words("upper up upperarm uparm shldr")
LOWER = _words("lower fore")

# Eyes and lids

LID = part("lid")
UPPER_LID = part("upper_lid")
LOWER_LID = part("lower_lid")
BESIDE_EYE = LID | _words("""brow brows lash lashes corner inner outer upper lower up low top bottom socket bag bags
    sack crease blink squint parallel wide pupil iris cornea lens highlight shine glow glass glasses patch mask line
    liner orbit""")
"""A bone with one of these words in its name is near an eye, or in it, but does not turn it."""

CLOSES = _words("blink close closed shut")
"""What the name of a control says that closes an eye."""
FACE_BOARD = _words("c m mid middle center centre face facial board main both")
"""What the name of a control of the eyes may say besides."""

# A bone so called ends a limb, aims something or helps another bone: it is not a part of the body that turns.
LEAF = _words("tip end top nub effector leaf")
TWIST = _words("twist roll")
WORN = _words("hair hat helmet prop")
"""What has a mass although it is no part of the body."""
HELPER = (
    TWIST
    | WORN
    | _words("""tracker track target slot helper pole ik tweak ref fix offset space zero null grp
    group socket attach mch org drv proxy pivot parent vis bend mech aim look lookat camera""")
)
CONTROL = _words("ctrl control controller con")
DEFORM = _words("def")
FILLER = _words("""upper lower up low joint bone base rig def deform bip biped mixamorig valve character char fk jnt cc
    ponytail pigtail coattail rear breast nail extension rotate""")
"""What is written together with other words without saying what a bone is."""

SIDES = frozenset(word for word in LEFT | RIGHT if len(word) > 1)
"""Words for the sides that may be written together with others."""
KNOWN: Words = SIDES.union(
    *(HEAD, NECK, CHEST, SPINE, HIPS, BUTTOCK, ROOT, ARM, LEG, FRONT, FACE, TAIL, FIN, DIGIT),
    *(LEAF, HELPER, CONTROL, FILLER),
)
"""All words into which a name is cut."""

# Rigs that Rigify generated

RIGIFY_LAYER = "ORG-"
"""Before the names of the bones of its metarig."""
RIGIFY_LAYERS = frozenset({RIGIFY_LAYER, "DEF-", "MCH-"})
RIGIFY_HIPS = "torso"
"""The control that moves the hips."""
RIGIFY_MARKS = frozenset({RIGIFY_HIPS, "head"})
"""Controls that every such rig has."""
RIGIFY_TURNED, RIGIFY_SETTINGS = "_fk", "_parent"
"""Behind a bone's name, before its side: the control that turns it, the bone that holds the limb's settings."""
RIGIFY_CONTROLS = (("head", "head"), ("neck", "neck"), ("chest", "chest"), ("hips", "hips"))
"""The controls that turn a part, and which part it is, head first. Chest and hips both hang on the torso control, so
they are not in one line of parents."""

# Shape keys that close eyes

KEY_BLINK = _words("blink まばたき 瞬き")
KEY_EYE = _words("eye eyes eyelid eyelids 目 両目")
KEY_CLOSED = _words("close closed shut 閉 閉じ")
KEY_LEFT = _words("l left 左")
KEY_RIGHT = _words("r right 右")
KEY_OTHERWISE = _words("""half squint wide smile happy joy fun angry anger sad sorrow surprised wink lower low upper
    inner outer brow brows look cheek mouth lip lips open not""")
"""A shape key with one of these words does not close an eye, or not that alone."""
KEY_LOOK = _words("look looking gaze")
KEY_UP_DOWN, KEY_IN_OUT = _words("up down"), _words("in out")
KEY_WHERE = KEY_UP_DOWN | KEY_IN_OUT | _words("left right")
KEY_NO_LOOK = _words("brow brows lid lids eyelid eyelids mouth jaw tongue cheek head neck nose")
"""A shape key with one of these words turns no eye."""
KEY_JOINED = (
    "eyelids",
    "eyelid",
    "eyes",
    "eye",
    "blink",
    "closed",
    "close",
    "shut",
    "left",
    "right",
    "both",
    "look",
    "down",
    "out",
    "up",
    "in",
)
"""Words that are written together, longer ones first."""
KEY_SIDES = ("l", "r")
"""The same, at the end."""
KEY_SIGNS = ("まばたき", "瞬き", "両目", "左", "右", "目", "閉")
"""Words that are written without a gap, longer ones first."""
