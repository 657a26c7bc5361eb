"""Forms of the same name: nicknames, initials, and abbreviations of several words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# A full name, and its short forms. English, as that is what tables of people mostly need.
_NICKNAMES = """
abigail abby gail; albert al bert; alexander alex al sandy sasha; alexandra alex sandra sasha
alfred al fred alf; amanda mandy; andrew andy drew; anthony tony; antonio tony; arthur art
barbara barb barbie babs; benjamin ben benny; bernard bernie; catherine cathy kate kathy katie cat
charles charlie chuck chas; christina chris tina chrissy; christine chris tina chrissy
christopher chris kit topher; cynthia cindy; daniel dan danny; david dave davy; deborah deb debbie
dominic dom nick; donald don donnie; dorothy dot dottie dolly; douglas doug; edward ed eddie ted ned
eleanor ellie nell nora; elizabeth liz beth betty lizzie eliza lisa bess; eugene gene
florence flo; frances fran fanny; francis frank; franklin frank; frederick fred freddy
gabriel gabe; gabrielle gabby; geoffrey geoff; gerald gerry jerry; gregory greg; harold hal harry
henry harry hank hal; isabella bella izzy; jacob jake; james jim jimmy jamie; janet jan
jeffrey jeff; jennifer jen jenny; jessica jess jessie; john jack johnny jon; jonathan jon jonny
joseph joe joey; josephine jo josie; joshua josh; judith judy; katherine kate kathy katie kat
kenneth ken kenny; kimberly kim; lawrence larry laurie; leonard leo len lenny; leslie les
louis lou; lucille lucy; madeline maddie; margaret maggie meg peggy marge madge rita
martha marty patty; martin marty; matthew matt; maximilian max; melissa mel missy
michael mike mick mickey; michelle shelly; mitchell mitch; mohammed muhammad mohamed mohammad mo
nancy nan; natalie nat; nathaniel nathan nate nat; nicholas nick nicky; oliver ollie
pamela pam; patricia pat patty trish tricia; patrick pat paddy; peter pete; philip phil
rachel rae; raymond ray; rebecca becky becca; richard rick dick rich richie ricky
robert rob bob bobby robbie bert; roberta bobbie; ronald ron ronnie; russell russ
samantha sam; samuel sam sammy; sarah sally sadie; sebastian seb; solomon sol
stanley stan; stephanie steph; stephen steve stevie; steven steve; susan sue susie; susanna sue
terence terry; theodore ted teddy theo; theresa terry tess; thomas tom tommy; timothy tim timmy
valerie val; veronica ronnie; victor vic; victoria vicky tori; vincent vince vinny; virginia ginny
walter walt wally; wilfred fred wilf; william bill will billy willy liam; zachary zach zack
"""
_FORMS: dict[str, set[str]] = {}
for _line in _NICKNAMES.replace("\n", ";").split(";"):
    _full, *_short = _line.split() or [""]
    for _name in _short:
        _FORMS.setdefault(_name, set()).add(_full)
_KNOWN = {*_FORMS, *(full for forms in _FORMS.values() for full in forms)}
# Frequent given names of several languages. Few of them are surnames or towns.
_GIVEN = """
aaron abdul abigail adam ada adele adrian agnes agnieszka ahmed aisha alan alana albert alberto
alejandro alessandro alessia alex alexander alexandra alfred ali alice alicia alina alison amanda
amber amelia amelie amy ana anastasia anders andre andrea andreas andrew andrzej angela anita anja
ann anna anne annette annika anthony antoine anton antonio arne arthur astrid axel barbara beatriz
ben benjamin bernard bernd beth bianca bill birgit bjorn boris brandon brian bridget brigitte brooke
bruno caitlin camille carl carla carlos carmen carol carolina caroline catherine cecile charles
charlotte chiara chloe chris christian christina christine christoph christophe christopher claire
clara claude claudia clemens colin connor cristina cynthia daisy damian daniel daniela danielle
dario david deborah denis denise diana diego dieter dimitri dmitri dominik donald doris dorothy
dylan edith eduardo edward elena eli elias elisabeth elizabeth ella ellen elsa emil emilia emily
emma enrico eric erica erik erika erin ernst esther ethan eugene eva evelyn fabian farid fatima
federica felipe felix fernando florian francesca francesco francis francisco frank franz frederic
friedrich gabriel gabriele gary geoffrey georg george georgia gerald gerard gerhard gianni giovanni
giulia giuseppe gloria grace greg greta guido gustav hana hanna hannah hans harold harriet harry
hassan heather hector heidi heike heinz helen helena helga henri henrik henry herbert hermann
holly horst hubert hugo ian ibrahim ida ignacio igor imogen ines inga inge ingrid irene irina iris
isaac isabel isabella isabelle ivan jack jacob jacqueline jacques jake jakob james jamie jan jana
jane janet janine jared jasmin jasmine jason javier jean jeffrey jennifer jens jeremy jessica jill
joachim joan joanna joao jochen joe joel johan johanna johannes john jonas jonathan jorge jose
josef joseph joshua juan judith julia julian julie jurgen justin kai karen karin karl karla karolina
katarzyna kate katharina katherine kathleen katja katrin kayla keith kelly kenneth kerstin kevin
kim klara klaus konrad kristin kyle lachlan lara lars laura lauren laurent lea lena leo leon
leonardo leonie liam lily linda lisa livia logan lorenzo louis louise luca lucas lucia lucie lucy
luis luisa lukas luke lydia madeleine magdalena maja malte manfred manuel marc marcel marco marcus
margaret margit maria mariam marianne marie mario marion marius mark marko markus marta martha
martin martina mary mateo mathias matilda matteo matthew matthias maurice max maya megan mehmet
melanie melissa mia michael michal michel michelle miguel mikhail mila miriam mitchell mohamed
mohammed monika moritz muhammad mustafa nadia nadine nancy natalia natalie natasha nathan nicholas
nicolas nicole niels nils nina noah noemi nora norbert oleg olga oliver olivia omar oscar oskar
otto pablo paige paola paolo pascal patricia patrick paul paula paulina pauline pavel pedro peter
petra philip philipp philippe pierre piotr priya rachel rafael rahul rainer ralf ralph raphael raul
raymond rebecca regina renate rene ricardo richard rita robert roberto robin roger roland ronald
rosa rosemary ruben rudolf rui ruth ryan sabine sabrina samantha samuel sandra sara sarah sascha
scott sean sebastian sergei sergio sharon shaun sigrid silvia simon simone sofia sonja sophia
sophie stanislav stefan stefanie stella stephan stephanie stephen steven susan susanne sven svenja
sylvia sylvie tamara tanja tara tatiana teresa theo theodor theresa thomas tiago tim timothy
tobias tom tomas tomasz tony tracy travis ulrich ulrike ursula uwe valentina valeria vanessa vera
veronica victor victoria viktor vincent viola virginia vivian vladimir volker walter wanda werner
wilhelm william wolfgang xavier yannick yasmin yolanda yusuf yves yvonne zachary zoe zofia
"""
#: Given names, without accents.
GIVEN_NAMES = frozenset(_GIVEN.split()) | _KNOWN
#: Words at the end of the name of a firm that tell nothing about which firm.
LEGAL_ENDINGS = frozenset(
    "inc incorporated ltd limited llc llp lp plc corp corporation co company gmbh ag kg ohg sa sas "
    "sarl srl bv nv ab oy aps kk pty pvt lda sro liability private public &".split()
)
# Articles in front of a title or a name tell nothing, and neither do words for "&".
_ARTICLES = frozenset("the a an der die das le la les el los il".split())
_CONJUNCTIONS = frozenset("and und et".split())
# Spellings of umlauts, in a language that has them, and in one that has not.
_UMLAUTS = {"ae": "a", "oe": "o", "ue": "u"}
_UMLAUT = re.compile("[aou]e")
_INITIAL = re.compile(r"\b\w\b")
# Letters of the initials of several words.
_MAX_INITIALS = 6


def may_be_aliases(values: Sequence[str], pairs: NDArray[np.integer]) -> NDArray[np.intp]:
    """Finds the pairs that `are_aliases` should look at; most pairs cannot be.

    Args:
        values: Distinct values.
        pairs: Positions of values, `(num_pairs, 2)`.

    Returns:
        Indices of pairs.
    """
    words = [value.split() for value in values]
    is_known = np.array([any(word in _KNOWN for word in bag) for bag in words], bool)
    has_initial = np.array([_INITIAL.search(value) is not None for value in values], bool)
    has_umlaut = np.array([_UMLAUT.search(value) is not None for value in values], bool)
    num_words = np.array([len(bag) for bag in words])
    lengths = np.array([len(value) for value in values])
    is_short = (num_words == 1) & (lengths <= _MAX_INITIALS)
    left, right = pairs.T
    may_be = is_known[left] & is_known[right]
    may_be |= has_initial[left] | has_initial[right] | has_umlaut[left] | has_umlaut[right]
    may_be |= is_short[left] & (num_words[right] >= lengths[left])
    may_be |= is_short[right] & (num_words[left] >= lengths[right])
    return np.flatnonzero(may_be)


def are_aliases(one: str, other: str) -> bool:
    """Tells whether two different names may be forms of the same name.

    Nicknames, also of two people called the same full name; an initial and a name; the initials of
    all words; umlauts that are written as two letters.

    Args:
        one: Words in lowercase, without accents and marks.
        other: The same.

    Example:
        >>> are_aliases("bill gates", "william gates"), are_aliases("bill", "walter")
        (True, False)
        >>> are_aliases("ibm", "international business machines")
        True
        >>> are_aliases("j smith", "john smith")
        True
        >>> are_aliases("mueller", "muller")
        True
    """
    words = one.split()
    other_words = other.split()
    if len(words) == len(other_words):
        return all(map(_is_same_word, words, other_words))
    shorter, longer = sorted([words, other_words], key=len)
    # The article and "of" are often left out of the initials.
    initials = {
        "".join(word[0] for word in longer),
        "".join(word[0] for word in longer if word not in ("of", "the", "and", "for")),
    }
    return len(shorter) == 1 and len(shorter[0]) > 1 and shorter[0] in initials


def other_forms(name: str) -> list[str]:
    """Returns forms of a name by which `are_aliases` could be found: full names, and initials.

    Example:
        >>> other_forms("bill gates"), other_forms("international business machines")
        (['william'], ['ibm'])
    """
    words = name.split()
    forms = sorted({full for word in words for full in _FORMS.get(word, ())})
    if 2 < len(words) <= _MAX_INITIALS:
        forms.append("".join(word[0] for word in words))
    return forms


def _is_same_word(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter, longer = sorted([one, other], key=len)
    if len(shorter) == 1:
        # C++ is not C.
        return longer.startswith(shorter) and longer.isalpha()
    full = _FORMS.get(one, set()) | {one}
    if full & (_FORMS.get(other, set()) | {other}):
        return True
    return _without_umlauts(one) == _without_umlauts(other)


def _without_umlauts(word: str) -> str:
    for letters, letter in _UMLAUTS.items():
        word = word.replace(letters, letter)
    return word


def telling_words(name: str) -> str:
    """Drops the legal form of a firm, articles in front, and "and", unless nothing would be left.

    Example:
        >>> telling_words("acme trading limited liability company"), telling_words("co")
        ('acme trading', 'co')
        >>> telling_words("the old man and the sea")
        'old man the sea'
    """
    words = [word for word in name.split() if word not in _CONJUNCTIONS] or name.split()
    if len(words) > 1 and words[0] in _ARTICLES:
        words.pop(0)
    while len(words) > 1 and words[-1] in LEGAL_ENDINGS:
        words.pop()
    return " ".join(words)
