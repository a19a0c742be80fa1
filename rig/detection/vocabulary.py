"""Every word by which bones and shape keys are known: naming conventions, and what other words say.

Words are in lower case and written one behind the other, separated by blanks. The code that cuts names into words and
draws conclusions from them is in the modules that use these sets; a new convention is one more row of `CONVENTIONS`.
Names are read in English and in the one other language that a rig speaks, because words of one language mean other
things in another: `main` is a root, and a hand in French.
"""
# ruff: noqa: RUF001 (letters of other alphabets are what is read)

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
    """`left`, `right`: words for the sides; single letters count only where they stand alone, and those of other
    conventions than the English one where as many bones have one as the other."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Words for parts of the body by the names that `part` knows; _ joins those of several words."""


CONVENTIONS = (
    Convention(
        "English",
        "upper_arm.L",
        left="l left lft lt lf",
        right="r right rgt rt rf",
        parts={
            "head": "head skull cephalothorax",
            "neck": "neck cervical",
            "chest": "chest thorax ribcage upperchest torso",
            "spine": "spine abdomen back lowerback waist stomach belly lumbar vertebra",
            "hips": "hips hip pelvis",
            "root": "root master ground cog armature world traj trajectory main",
            "shoulder": "shoulder collar clavicle scapula",
            "upper_arm": "upperarm uparm shldr humerus uarm",
            "arm": "arm",
            "forearm": "forearm lowerarm elbow ulna radius farm",
            "hand": "hand wrist",
            "wing": "wing",
            "fin": "fin",
            "digit": "finger index middle mid ring pinky little",
            "thumb": "thumb",
            "buttock": "buttock pelvis",
            "thigh": "thigh upleg upperleg hip femur coxa",
            "shank": "shin calf knee lowerleg tibia",
            "leg": "leg",
            "foot": "foot feet ankle paw hoof tarsus talus calcn",
            "toe": "toe toes ball toebase metatarsal metatarsals",
            "tail": "tail",
            "nose": "nose beak snout muzzle",
            "mouth": "mouth jaw chin tongue teeth tooth lip",
            "eye": "eye eyes eyeball",
            "lid": "lid eyelid lids eyelids",
            "upper_lid": "upper up top t",
            "lower_lid": "lower low bottom down b",
            "brow": "brow brows eyebrow eyebrows",
            "ear": "ear ears",
            "face": "face cheek forehead temple",
        },
    ),
    Convention(
        "German",
        "Oberschenkel.L",
        left="links linker linke linkes li",
        right="rechts rechter rechte rechtes re",
        parts={
            "head": "kopf schädel",
            "neck": "hals nacken genick",
            "chest": "brust brustkorb oberkörper",
            "spine": "wirbelsäule wirbel rücken bauch rückgrat taille unterkörper",
            "hips": "becken hüfte hüften",
            "root": "wurzel",
            "shoulder": "schulter schlüsselbein schulterblatt",
            "upper_arm": "oberarm",
            "forearm": "unterarm ellbogen ellenbogen",
            "hand": "handgelenk",
            "wing": "flügel",
            "fin": "flosse",
            "digit": "zeigefinger mittelfinger ringfinger kleinerfinger",
            "thumb": "daumen",
            "thigh": "oberschenkel",
            "shank": "unterschenkel schienbein wade knie",
            "leg": "bein",
            "foot": "fuß fuss knöchel fußgelenk pfote huf",
            "toe": "zeh zehe zehen ballen",
            "tail": "schwanz schweif",
            "nose": "nase schnabel schnauze",
            "mouth": "mund kiefer kinn zunge zähne lippe unterkiefer",
            "eye": "auge augen augapfel",
            "lid": "augenlid",
            "brow": "braue augenbraue brauen",
            "ear": "ohr ohren",
            "face": "gesicht wange stirn",
            "hair": "haar haare",
        },
    ),
    Convention(
        "Dutch",
        "bovenbeen.L",
        left="linker linkse",
        right="rechter rechtse rechts",
        parts={
            "head": "hoofd schedel",
            "neck": "nek hals",
            "chest": "borst borstkas bovenlichaam",
            "spine": "ruggengraat wervelkolom rug buik taille onderlichaam wervel",
            "hips": "heupen heup bekken",
            "root": "wortel",
            "shoulder": "schouder sleutelbeen schouderblad",
            "upper_arm": "bovenarm",
            "forearm": "onderarm elleboog voorarm",
            "hand": "pols",
            "wing": "vleugel",
            "fin": "vin",
            "digit": "vinger wijsvinger middelvinger ringvinger pink",
            "thumb": "duim",
            "thigh": "bovenbeen dij dijbeen",
            "shank": "onderbeen scheenbeen kuit knie",
            "leg": "been",
            "foot": "voet enkel poot hoef",
            "toe": "teen tenen",
            "tail": "staart",
            "nose": "neus snavel snuit",
            "mouth": "mond kaak kin tong tanden lippen",
            "eye": "oog ogen oogbol",
            "lid": "ooglid",
            "brow": "wenkbrauw",
            "ear": "oor oren",
            "face": "gezicht wang voorhoofd",
            "hair": "haar haren",
        },
    ),
    Convention(
        "Swedish",
        "överarm.L",
        left="vänster v",
        right="höger h",
        parts={
            "head": "huvud skalle",
            "neck": "nacke hals",
            "chest": "bröst bröstkorg överkropp",
            "spine": "ryggrad rygg mage midja buk underkropp ryggkota",
            "hips": "höft höfter bäcken",
            "root": "rot",
            "shoulder": "axel nyckelben skulderblad",
            "upper_arm": "överarm",
            "forearm": "underarm armbåge",
            "hand": "handled handflata",
            "wing": "vinge",
            "fin": "fena",
            "digit": "pekfinger långfinger ringfinger lillfinger",
            "thumb": "tumme",
            "thigh": "lår överben lårben",
            "shank": "underben smalben vad knä skenben",
            "leg": "ben",
            "foot": "fot fotled ankel tass hov vrist",
            "toe": "tå tår",
            "tail": "svans",
            "nose": "näsa näbb nos",
            "mouth": "mun käke haka tunga tänder läpp",
            "eye": "öga ögon ögonglob",
            "lid": "ögonlock",
            "brow": "ögonbryn",
            "ear": "öra öron",
            "face": "ansikte kind panna",
            "hair": "hår",
        },
    ),
    Convention(
        "Danish",
        "overarm.L",
        left="venstre v",
        right="højre h",
        parts={
            "head": "hoved kranie",
            "neck": "hals nakke",
            "chest": "bryst brystkasse overkrop",
            "spine": "rygsøjle rygrad ryg mave talje underkrop ryghvirvel",
            "hips": "hofte hofter bækken",
            "root": "rod",
            "shoulder": "skulder kraveben nøgleben skulderblad",
            "upper_arm": "overarm",
            "forearm": "underarm albue",
            "hand": "hånd håndled",
            "wing": "vinge",
            "fin": "finne",
            "digit": "pegefinger langfinger ringfinger lillefinger",
            "thumb": "tommelfinger tommel",
            "thigh": "lår overben lårben",
            "shank": "underben skinneben læg knæ",
            "leg": "ben",
            "foot": "fod ankel pote hov",
            "toe": "tå tæer",
            "tail": "hale",
            "nose": "næse næb snude",
            "mouth": "mund kæbe hage tunge tænder læbe",
            "eye": "øje øjne øjeæble",
            "lid": "øjenlåg",
            "brow": "øjenbryn",
            "ear": "øre ører",
            "face": "ansigt kind pande",
            "hair": "hår",
        },
    ),
    Convention(
        "Norwegian",
        "overarm.L",
        left="venstre v",
        right="høyre h",
        parts={
            "head": "hode hodeskalle",
            "neck": "hals nakke",
            "chest": "bryst brystkasse overkropp",
            "spine": "ryggrad ryggsøyle rygg mage midje underkropp ryggvirvel",
            "hips": "hofte hofter bekken",
            "root": "rot",
            "shoulder": "skulder kragebein skulderblad",
            "upper_arm": "overarm",
            "forearm": "underarm albue",
            "hand": "hånd håndledd",
            "wing": "vinge",
            "fin": "finne",
            "digit": "pekefinger langfinger ringfinger lillefinger",
            "thumb": "tommelfinger tommel",
            "thigh": "lår overbein lårbein",
            "shank": "underbein legg leggbein skinneben kne",
            "leg": "bein ben",
            "foot": "fot ankel pote hov",
            "toe": "tå tær",
            "tail": "hale",
            "nose": "nese nebb snute",
            "mouth": "munn kjeve hake tunge tenner leppe",
            "eye": "øye øyne øyeeple",
            "lid": "øyelokk",
            "brow": "øyebryn",
            "ear": "øre ører",
            "face": "ansikt kinn panne",
            "hair": "hår",
        },
    ),
    Convention(
        "French",
        "avant_bras.G",
        left="gauche g",
        right="droite droit d",
        parts={
            "head": "tête crâne",
            "neck": "cou nuque",
            "chest": "poitrine torse buste thorax",
            "spine": "colonne dos échine ventre abdomen taille vertèbre rachis",
            "hips": "bassin hanches hanche",
            "root": "racine",
            "shoulder": "épaule clavicule omoplate",
            "upper_arm": "haut_bras bras_haut haut_du_bras",
            "arm": "bras",
            "forearm": "avantbras avant_bras coude",
            "hand": "main poignet paume",
            "wing": "aile",
            "fin": "nageoire",
            "digit": "doigt majeur annulaire auriculaire",
            "thumb": "pouce",
            "thigh": "cuisse fémur",
            "shank": "mollet genou tibia",
            "leg": "jambe",
            "foot": "pied cheville patte sabot",
            "toe": "orteil orteils",
            "tail": "queue",
            "nose": "nez bec museau",
            "mouth": "bouche mâchoire menton langue dents lèvre",
            "eye": "œil oeil yeux",
            "lid": "paupière",
            "brow": "sourcil",
            "ear": "oreille oreilles",
            "face": "visage joue front",
            "hair": "cheveu cheveux",
        },
    ),
    Convention(
        "Italian",
        "avambraccio.S",
        left="sinistra sinistro sinistri sx s",
        right="destra destro destri dx d",
        parts={
            "head": "testa cranio",
            "neck": "collo",
            "chest": "petto torace busto",
            "spine": "colonna schiena spina pancia addome vita dorso vertebra",
            "hips": "bacino fianchi anche anca",
            "root": "radice",
            "shoulder": "spalla clavicola scapola",
            "upper_arm": "omero braccio_superiore",
            "arm": "braccio",
            "forearm": "avambraccio gomito braccio_inferiore",
            "hand": "mano polso palmo",
            "wing": "ala",
            "fin": "pinna",
            "digit": "dito indice medio anulare mignolo",
            "thumb": "pollice",
            "thigh": "coscia femore gamba_superiore",
            "shank": "polpaccio ginocchio stinco tibia gamba_inferiore",
            "leg": "gamba",
            "foot": "piede caviglia zampa zoccolo",
            "toe": "dita alluce punta_piede dita_piede",
            "tail": "coda",
            "nose": "naso becco muso",
            "mouth": "bocca mascella mandibola mento lingua denti labbro",
            "eye": "occhio occhi",
            "lid": "palpebra",
            "brow": "sopracciglio",
            "ear": "orecchio orecchie",
            "face": "viso faccia guancia fronte",
            "hair": "capelli capello",
        },
    ),
    Convention(
        "Portuguese",
        "antebraço.E",
        left="esquerda esquerdo esq e",
        right="direita direito dir d",
        parts={
            "head": "cabeça crânio",
            "neck": "pescoço",
            "chest": "peito tórax tronco",
            "spine": "coluna espinha costas barriga abdômen abdome cintura vértebra",
            "hips": "quadril quadris bacia pelve",
            "root": "raiz",
            "shoulder": "ombro clavícula escápula",
            "upper_arm": "úmero braço_superior",
            "arm": "braço",
            "forearm": "antebraço cotovelo braço_inferior",
            "hand": "mão pulso punho palma",
            "wing": "asa",
            "fin": "nadadeira barbatana",
            "digit": "dedo indicador médio anelar mindinho mínimo",
            "thumb": "polegar",
            "thigh": "coxa fêmur perna_superior",
            "shank": "canela panturrilha joelho tíbia perna_inferior",
            "leg": "perna",
            "foot": "pé tornozelo pata casco",
            "toe": "dedos dedo_pé dedos_pé artelho",
            "tail": "cauda rabo",
            "nose": "nariz bico focinho",
            "mouth": "boca mandíbula queixo língua dentes lábio maxilar",
            "eye": "olho olhos",
            "lid": "pálpebra",
            "brow": "sobrancelha",
            "ear": "orelha orelhas",
            "face": "rosto bochecha testa",
            "hair": "cabelo cabelos",
        },
    ),
    Convention(
        "Spanish",
        "antebrazo.I",
        left="izquierda izquierdo izq i",
        right="derecha derecho der d",
        parts={
            "head": "cabeza cráneo",
            "neck": "cuello nuca",
            "chest": "pecho tórax torso busto",
            "spine": "columna espina espalda vientre abdomen cintura vértebra",
            "hips": "cadera caderas pelvis",
            "root": "raíz",
            "shoulder": "hombro clavícula escápula",
            "upper_arm": "húmero brazo_superior",
            "arm": "brazo",
            "forearm": "antebrazo codo brazo_inferior",
            "hand": "mano muñeca palma",
            "wing": "ala",
            "fin": "aleta",
            "digit": "dedo índice medio corazón anular meñique",
            "thumb": "pulgar",
            "thigh": "muslo fémur pierna_superior",
            "shank": "pantorrilla espinilla rodilla tibia pierna_inferior",
            "leg": "pierna",
            "foot": "pie tobillo pata pezuña",
            "toe": "dedos dedo_pie dedos_pie punta_pie puntera",
            "tail": "cola rabo",
            "nose": "nariz pico hocico",
            "mouth": "boca mandíbula barbilla lengua dientes labio quijada",
            "eye": "ojo ojos",
            "lid": "párpado",
            "brow": "ceja",
            "ear": "oreja orejas",
            "face": "cara rostro mejilla frente",
            "hair": "pelo cabello",
        },
    ),
    Convention(
        "Polish",
        "przedramię.L",
        left="lewa lewy lewe lewo lewej lewego",
        right="prawa prawy prawe prawo prawej prawego p",
        parts={
            "head": "głowa czaszka",
            "neck": "szyja kark",
            "chest": "klatka klatka_piersiowa pierś piersi tors",
            "spine": "kręgosłup kręg plecy brzuch talia tułów",
            "hips": "biodra biodro miednica",
            "root": "korzeń",
            "shoulder": "bark obojczyk łopatka",
            "upper_arm": "ramię",
            "arm": "ręka",
            "forearm": "przedramię łokieć",
            "hand": "dłoń nadgarstek",
            "wing": "skrzydło",
            "fin": "płetwa",
            "digit": "palec wskazujący środkowy serdeczny mały",
            "thumb": "kciuk",
            "thigh": "udo",
            "shank": "łydka podudzie goleń kolano piszczel",
            "leg": "noga",
            "foot": "stopa kostka łapa kopyto",
            "toe": "palce palce_stopy palec_stopy palce_nogi",
            "tail": "ogon",
            "nose": "nos dziób pysk",
            "mouth": "usta szczęka żuchwa broda język zęby warga",
            "eye": "oko oczy",
            "lid": "powieka",
            "brow": "brew",
            "ear": "ucho uszy",
            "face": "twarz policzek czoło",
            "hair": "włosy włos",
        },
    ),
    Convention(
        "Czech",
        "předloktí.L",
        left="levá levý levé levo",
        right="pravá pravý pravé pravo p",
        parts={
            "head": "hlava lebka",
            "neck": "krk šíje",
            "chest": "hruď hrudník prsa",
            "spine": "páteř záda břicho pas trup obratel",
            "hips": "pánev boky kyčel kyčle",
            "root": "kořen",
            "shoulder": "rameno klíční_kost lopatka klíček",
            "upper_arm": "paže nadloktí",
            "arm": "ruka_horní",
            "forearm": "předloktí loket",
            "hand": "ruka dlaň zápěstí",
            "wing": "křídlo",
            "fin": "ploutev",
            "digit": "prst ukazováček prostředníček prsteníček malíček",
            "thumb": "palec",
            "thigh": "stehno",
            "shank": "lýtko bérec holeň koleno",
            "leg": "noha",
            "foot": "chodidlo kotník tlapa kopyto",
            "toe": "prsty prsty_nohy špička",
            "tail": "ocas",
            "nose": "nos zobák čenich",
            "mouth": "ústa čelist brada jazyk zuby ret",
            "eye": "oko oči",
            "lid": "víčko",
            "brow": "obočí",
            "ear": "ucho uši",
            "face": "tvář obličej čelo",
            "hair": "vlasy vlas",
        },
    ),
    Convention(
        "Turkish",
        "önkol.L",
        left="sol",
        right="sağ",
        parts={
            "head": "baş kafa kafatası",
            "neck": "boyun",
            "chest": "göğüs gövde",
            "spine": "omurga sırt karın bel omur",
            "hips": "kalça leğen pelvis",
            "root": "kök",
            "shoulder": "omuz köprücük kürek",
            "upper_arm": "üst_kol üstkol pazı",
            "arm": "kol",
            "forearm": "ön_kol önkol alt_kol altkol dirsek",
            "hand": "el bilek avuç",
            "wing": "kanat",
            "fin": "yüzgeç",
            "digit": "parmak işaret orta yüzük serçe",
            "thumb": "başparmak baş_parmak",
            "thigh": "uyluk üst_bacak üstbacak",
            "shank": "baldır kaval diz alt_bacak altbacak",
            "leg": "bacak",
            "foot": "ayak ayak_bileği ayakbileği pati toynak",
            "toe": "ayak_parmağı ayak_parmak ayakparmak ayakucu ayak_ucu parmakucu",
            "tail": "kuyruk",
            "nose": "burun gaga",
            "mouth": "ağız çene dil diş dişler dudak",
            "eye": "göz gözler",
            "lid": "göz_kapağı gözkapağı",
            "brow": "kaş",
            "ear": "kulak",
            "face": "yüz yanak alın",
            "hair": "saç",
        },
    ),
    Convention(
        "Finnish",
        "kyynärvarsi.L",
        left="vasen vas",
        right="oikea oik",
        parts={
            "head": "pää kallo",
            "neck": "kaula niska",
            "chest": "rinta rintakehä ylävartalo",
            "spine": "selkäranka selkä vatsa vyötärö nikama",
            "hips": "lantio lonkka",
            "root": "juuri",
            "shoulder": "olkapää hartia solisluu lapaluu",
            "upper_arm": "olkavarsi",
            "arm": "käsivarsi",
            "forearm": "kyynärvarsi kyynärpää",
            "hand": "käsi ranne kämmen",
            "wing": "siipi",
            "fin": "evä",
            "digit": "sormi etusormi keskisormi nimetön pikkusormi",
            "thumb": "peukalo",
            "thigh": "reisi",
            "shank": "sääri pohje polvi",
            "leg": "jalka",
            "foot": "jalkaterä nilkka käpälä kavio",
            "toe": "varvas varpaat varpaan",
            "tail": "häntä",
            "nose": "nenä nokka kuono",
            "mouth": "suu leuka kieli hampaat huuli",
            "eye": "silmä silmät",
            "lid": "silmäluomi",
            "brow": "kulmakarva",
            "ear": "korva korvat",
            "face": "kasvot poski otsa",
            "hair": "hius hiukset",
        },
    ),
    Convention(
        "Russian",
        "Предплечье.L",
        left="левый левая левое левой левого лев л",
        right="правый правая правое правой правого прав п",
        parts={
            "head": "голова череп",
            "neck": "шея",
            "chest": "грудь грудная торс",
            "spine": "позвоночник позвонок спина живот талия поясница туловище",
            "hips": "таз бёдра",
            "root": "корень",
            "shoulder": "ключица лопатка",
            "upper_arm": "плечо",
            "arm": "рука",
            "forearm": "предплечье локоть",
            "hand": "кисть ладонь запястье",
            "wing": "крыло",
            "fin": "плавник",
            "digit": "палец указательный средний безымянный мизинец",
            "thumb": "большой_палец",
            "thigh": "бедро",
            "shank": "голень колено икра",
            "leg": "нога",
            "foot": "стопа ступня лодыжка лапа копыто",
            "toe": "носок пальцы пальцы_ног пальцы_стопы",
            "tail": "хвост",
            "nose": "нос клюв морда",
            "mouth": "рот челюсть подбородок язык зубы губа",
            "eye": "глаз глаза",
            "lid": "веко",
            "brow": "бровь",
            "ear": "ухо уши",
            "face": "лицо щека лоб",
            "hair": "волосы волос",
        },
    ),
    Convention(
        "Japanese",
        "左足",
        left="左 ひだり",
        right="右 みぎ",
        parts={
            "head": "頭 頭部",
            "neck": "首",
            "chest": "上半身2 胸 胸部 頭胸部",
            "spine": "上半身 背骨 腹 腹部",
            "hips": "腰 腰部 骨盤 下半身",
            "root": "センター 親 グルーブ",
            "shoulder": "肩 鎖骨",
            "upper_arm": "腕 腕部 上腕 二の腕",
            "forearm": "ひじ 肘 前腕",
            "hand": "手首 手",
            "wing": "翼 羽",
            "fin": "ひれ",
            "digit": "指 人指 中指 薬指 小指",
            "thumb": "親指",
            "thigh": "太もも 太腿 大腿 もも",
            "shank": "ひざ 膝 すね",
            "leg": "足 脚 脚部",
            "foot": "足首 足部",
            "toe": "つま先 爪先 足先 足指",
            "tail": "尻尾 しっぽ 尾",
            "nose": "鼻",
            "mouth": "口 顎 あご 舌 歯 唇",
            "eye": "目 眼",
            "lid": "瞼 まぶた",
            "upper_lid": "上",
            "lower_lid": "下",
            "brow": "眉",
            "ear": "耳",
            "face": "顔 頬 額",
            "hair": "髪 前髪 後髪",
            "both": "両目 両眼",
            "twist": "捩 捻",
        },
    ),
    Convention(
        "Chinese",
        "左大腿",
        left="左",
        right="右",
        parts={
            "head": "头 頭 头部 頭部",
            "neck": "脖子 颈 頸 颈部 脖",
            "chest": "胸 胸部 胸腔",
            "spine": "脊椎 脊柱 脊 腰 腹 腹部 背 腰部",
            "hips": "骨盆 臀 臀部 髋 胯",
            "root": "根 根骨骼 根节点",
            "shoulder": "肩 肩膀 锁骨 鎖骨 肩胛",
            "upper_arm": "上臂 大臂",
            "arm": "手臂 胳膊 臂",
            "forearm": "前臂 小臂 下臂 肘 手肘",
            "hand": "手 手掌 手腕",
            "wing": "翅膀 翼",
            "fin": "鳍",
            "digit": "手指 指 食指 中指 无名指 小指",
            "thumb": "拇指 大拇指",
            "thigh": "大腿",
            "shank": "小腿 膝 膝盖 胫",
            "leg": "腿",
            "foot": "脚 足 脚踝 脚掌 脚腕",
            "toe": "脚趾 脚尖 趾",
            "tail": "尾巴 尾",
            "nose": "鼻 鼻子",
            "mouth": "嘴 下巴 下颌 颌 舌 牙 牙齿 唇",
            "eye": "眼 眼睛 眼球",
            "lid": "眼皮 眼睑",
            "brow": "眉 眉毛",
            "ear": "耳 耳朵",
            "face": "脸 面部 额",
            "hair": "头发 發 髪",
        },
    ),
    Convention(
        "Korean",
        "왼쪽_허벅지",
        left="왼쪽 왼 좌 좌측",
        right="오른쪽 오른 우 우측",
        parts={
            "head": "머리 두개골",
            "neck": "목",
            "chest": "가슴 흉부 상체",
            "spine": "척추 등 허리 배 복부",
            "hips": "골반 엉덩이 하체",
            "root": "루트 뿌리",
            "shoulder": "어깨 쇄골",
            "upper_arm": "위팔 상완 윗팔",
            "arm": "팔",
            "forearm": "아래팔 전완 팔꿈치 아랫팔 팔뚝",
            "hand": "손 손목",
            "wing": "날개",
            "fin": "지느러미",
            "digit": "손가락 검지 중지 약지 새끼",
            "thumb": "엄지",
            "thigh": "허벅지 대퇴 넓적다리",
            "shank": "종아리 정강이 무릎",
            "leg": "다리",
            "foot": "발 발목",
            "toe": "발가락 발끝",
            "tail": "꼬리",
            "nose": "코 부리",
            "mouth": "입 턱 혀 이빨 입술",
            "eye": "눈 눈알",
            "lid": "눈꺼풀",
            "brow": "눈썹",
            "ear": "귀",
            "face": "얼굴 뺨 이마",
            "hair": "머리카락 머리칼",
        },
    ),
)
ENGLISH = next(convention for convention in CONVENTIONS if convention.name == "English")
FOREIGN = tuple(convention for convention in CONVENTIONS if convention is not ENGLISH)
"""English words are read in every rig, those of one other convention where the rig has words of it."""


def part(name: str) -> Words:
    """The English words for a part of the body. Words of other conventions are read as the first of these."""
    return _words(ENGLISH.parts.get(name, ""))


# Sides

LEFT: Words = _words(ENGLISH.left)
RIGHT: Words = _words(ENGLISH.right)

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
UPPER_ARM = part("upper_arm")
ARM = SHOULDER | UPPER_ARM | part("arm") | FOREARM | HAND | WING | FIN
THUMB = part("thumb")
DIGIT = part("digit") | THUMB
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
BROW = part("brow")
FACE = NOSE | MOUTH | EYE | BROW | EAR | part("lid") | part("face")

FRONT = _words("front fore")
"""Of an animal's legs those that are its arms."""

# Limbs more closely

COLLAR = SHOULDER | {"shldr"}
ELBOW = FOREARM | {"lower"}
PALM = HAND | {"palm"}
UPPER = THIGH | UPPER_ARM | _words("upper up")
LOWER = _words("lower fore")

# Eyes and lids

LID = part("lid")
UPPER_LID = part("upper_lid")
LOWER_LID = part("lower_lid")
BESIDE_EYE = LID | _words("""brow brows lash lashes corner inner outer upper lower up low top bottom socket bag bags
    sack crease blink squint parallel wide pupil iris cornea lens highlight shine glow glass glasses patch mask line
    liner orbit""")
"""A bone with one of these words in its name is near an eye, or in it, but does not turn it."""

OF_FACE = NOSE | MOUTH | EYE | BROW | _words("pupil pupils iris cornea lash lashes eyelash eyelashes sclera")
"""What the names of meshes and materials of a face say."""

CLOSES = _words("blink close closed shut")
"""What the name of a control says that closes an eye."""
FACE_BOARD = _words("c m mid middle center centre face facial board main both")
"""What the name of a control of the eyes may say besides."""

# A bone so called ends a limb, aims something or helps another bone: it is not a part of the body that turns.
LEAF = _words("tip end top nub effector leaf")
TWIST = _words("twist roll part")
WORN = _words("hair hat helmet prop")
"""What has a mass although it is no part of the body."""
HELPER = (
    TWIST
    | WORN
    | _words("""tracker track target slot helper pole ik tweak ref fix offset space zero null grp
    group socket attach mch org drv proxy pivot parent vis bend mech aim look lookat camera goal""")
)
CONTROL = _words("ctrl ctl control controller con")
PLACED = _words("offset space zero null grp group org mch mech proxy bend drv ref vis parent")
"""Of the helpers those that stand for the part itself where no other bone of that name does."""
DEFORM = _words("def")
ATTACHED = _words("""breast ponytail pigtail coattail cape skirt cloth coat cloak sleeve strap sword shield weapon bag
    antenna horn feather armor pad""")
"""What hangs on a body without being one of its limbs."""
SWINGING = (
    (
        "LONG_HAIR",
        _words("hair hairs ponytail pigtail twintail braid braids bang bangs fringe ahoge sidelock whisker whiskers"),
        ("髪", "アホ毛", "もみあげ", "おさげ", "三つ編み", "ツインテ", "ポニテ"),
    ),
    ("EAR", EAR, ("耳",)),
    ("CLOTH", _words("skirt cape cloak coat coattail cloth dress kilt apron"), ("スカート", "マント", "裾", "裙")),
    ("STRAP", _words("strap straps belt ribbon scarf tassel necktie lace"), ("リボン", "ベルト", "紐", "マフラー")),
    ("SOFT", _words("breast breasts bust boob boobs"), ("乳", "おっぱい")),
    ("ANTENNA", _words("antenna antennae antennas feeler"), ("触角", "アンテナ")),
    ("CAT_TAIL", TAIL, ("尻尾", "しっぽ", "尾巴")),
)
"""What swings: a preset of springs, words of names, and signs within names of languages without spaces."""
NO_SWING = _words("tweak master ik pole target root parent")
"""Of bones so called, those that are controls for something else."""
FILLER = _words("""upper lower up low joint bone base rig def deform bip biped mixamorig valve character char fk jnt cc
    ponytail pigtail coattail rear breast nail extension rotate""")
"""What is written together with other words without saying what a bone is."""

SIDES = frozenset(word for word in LEFT | RIGHT if len(word) > 2)
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
RIGIFY_TURNED, RIGIFY_HELD, RIGIFY_SETTINGS = "_fk", "_ik", "_parent"
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
